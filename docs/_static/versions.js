// The version switch: versions.json beside the folders of all versions lists them, ["0.2.0", "0.1.0"].
// Without that file, as in a build of one's own, there is no switch.
document.addEventListener("DOMContentLoaded", async () => {
  const choice = document.getElementById("versions");
  if (!choice || !location.protocol.startsWith("http")) return;
  const { site, page, version } = choice.dataset;
  const all = new URL("../", new URL(site || "./", location.href));
  const answer = await fetch(new URL("versions.json", all));
  if (!answer.ok) return;
  for (const name of await answer.json()) choice.add(new Option(name, name, false, name === version));
  choice.addEventListener("change", async () => {
    const target = new URL(`${choice.value}/${page}`, all);
    const known = await fetch(target, { method: "HEAD" });
    location.href = known.ok ? target : new URL(`${choice.value}/index.html`, all);
  });
  choice.parentElement.hidden = false;
});
