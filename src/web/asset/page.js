// Keys for what the page offers: a letter presses the button or follows the link that names it in data-key.
// Everything here is a convenience; each page works without it.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const wanted = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (wanted) {
    event.preventDefault();
    wanted.click();
  }
});
