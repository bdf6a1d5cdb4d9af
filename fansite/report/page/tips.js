// ---- Whole names ----------------------------------------------------------------------------------------------------
// A name that is cut shows itself whole on hover and on focus alike: a title attribute would leave the keyboard out.

const tip = () => byId("tip");

/** Beside a point of the window, within it. */
function showTip(text, x, y) {
  const box = tip();
  box.textContent = text;
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const room = document.documentElement.clientWidth - width - 6;
  box.style.setProperty("left", `${Math.max(6, Math.min(x - width / 2, room))}px`);
  box.style.setProperty("top", `${y + 14 + height > window.innerHeight ? Math.max(4, y - height - 14) : y + 14}px`);
}

const hideTip = () => {
  tip().hidden = true;
};

/** Whether something of an element's name is not to be seen. */
const isCut = (owner) => owner.textContent.includes("\u2026") || [...owner.querySelectorAll("*"), owner].some((part) => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX === "hidden");

function makeTips() {
  const over = (event) => {
    const owner = event.target.closest?.("[data-whole]");
    if (!owner || !isCut(owner)) {
      hideTip();
      return;
    }
    const { left, width, bottom } = owner.getBoundingClientRect();
    showTip(owner.dataset.whole, left + width / 2, bottom - 8);
  };
  document.addEventListener("mouseover", over);
  document.addEventListener("focusin", over);
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", hideTip, true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
}
