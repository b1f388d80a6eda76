"use strict";
// A click on a line marks the lines of the other pane that belong to it.
const panes = [...document.querySelectorAll(".pane")];
function show(file) {
  document.querySelectorAll(".file").forEach(div => { div.hidden = div.dataset.file !== file; });
  document.querySelectorAll("nav button[data-file]").forEach(b => b.classList.toggle("on", b.dataset.file === file));
}
function mark(source, from) {
  document.querySelectorAll("tr.mark").forEach(row => row.classList.remove("mark"));
  show(source.split("-")[0]);
  for (const pane of panes) {
    const rows = [...pane.querySelectorAll(`tr[data-src="${source}"]`)];
    rows.forEach(row => row.classList.add("mark"));
    if (pane !== from && rows.length > 0) {
      pane.scrollTop += rows[0].getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
    }
  }
}
document.addEventListener("click", event => {
  const button = event.target.closest("nav button[data-file]");
  if (button) { show(button.dataset.file); }
  const row = event.target.closest("tr[data-src]");
  if (row) { mark(row.dataset.src, row.closest(".pane")); }
});
