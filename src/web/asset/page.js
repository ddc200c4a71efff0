// Keys, and forms that are sent when a choice is made. Everything here is a convenience: each page works without it.
(() => {
  const isTyping = (element) => element.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

  const isOnScreen = (element) => {
    const box = element.getBoundingClientRect();
    return box.bottom > 0 && box.top >= 0 && box.bottom <= window.innerHeight + 1;
  };

  // Presses what a key names. A button that is not on the screen is shown first, so that nobody decides about text that
  // they have not seen to its end.
  const press = (element) => {
    if (element.matches("summary")) {
      element.click();
      const field = element.parentElement.open && element.parentElement.querySelector("input:not([type=hidden]), textarea");
      if (field) field.focus();
    } else if (element.matches("button") && !isOnScreen(element)) {
      element.scrollIntoView({ block: "center" });
      element.focus({ preventScroll: true });
    } else {
      element.click();
    }
  };

  // The link of a line of a list.
  const rowLink = ":is(a.row, .title a)";

  // Moves the focus to the next or the previous line of a list.
  const moveInList = (step) => {
    const rows = [...document.querySelectorAll(`[data-row] ${rowLink}`)];
    if (rows.length === 0) return false;
    const current = document.activeElement.closest("[data-row]");
    const at = current ? rows.indexOf(current.querySelector(rowLink)) + step : step > 0 ? 0 : rows.length - 1;
    rows[Math.min(Math.max(at, 0), rows.length - 1)].focus();
    return true;
  };

  const keyPressed = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || event.repeat) return;
    if (event.key === "Escape") {
      const open = document.activeElement.closest("details[open]");
      if (open) {
        open.open = false;
        open.querySelector("summary").focus();
      }
      return;
    }
    if (isTyping(event.target)) return;
    if (event.key === "x") {
      const box = document.activeElement.closest("[data-row]")?.querySelector("input[type=checkbox]");
      if (box) box.click();
      return;
    }
    if ((event.key === "j" || event.key === "k") && moveInList(event.key === "j" ? 1 : -1)) {
      event.preventDefault();
      return;
    }
    const named = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (named) {
      event.preventDefault();
      press(named);
    }
  };

  // A form is sent once, however often its button is pressed. Going back in the history makes it usable again.
  const sent = new Set();
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    if (sent.has(event.target)) event.preventDefault();
    sent.add(event.target);
  });
  window.addEventListener("pageshow", () => sent.clear());

  document.addEventListener("keydown", keyPressed);
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
  });
})();
