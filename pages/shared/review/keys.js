// The keys of a review. A key presses the button that shows it, once the page stands as the press before has left it:
// a page that is being drawn may lack the button, or still have that of the case before. A key that comes sooner is
// held, in order. It is for the case that was on screen as it fell: where another one is by then, it is not taken.
if (!window.reviewKeys) {
  window.reviewKeys = true;
  const FIELD = "input, textarea, select, [contenteditable='true']";
  const RECORD = ["Ctrl + Enter", "⌘ + Enter"];
  const LONGEST = 5000; // ms after which a press that no run has followed counts as answered
  const held = [];
  let awaited = null; // the presses that the page is to have answered, until it has

  const drawn = () => document.querySelector(".review-drawn")?.dataset;
  const onScreen = () => document.querySelector(".review-case")?.dataset.place;
  const score = () => document.querySelector("[class*='st-key-score-'] input");
  const search = () => document.querySelector("[class*='st-key-find-'] input") || score();
  const idle = () => {
    const app = document.querySelector("[data-testid=stApp]")?.dataset;
    return app?.testScriptState === "notRunning" && app.testConnectionState === "CONNECTED";
  };
  const say = (words) => {
    const place = document.querySelector(".review-late");
    if (place) place.textContent = words ? place.dataset.words : "";
  };

  // Names of a key, as buttons show it: what it types, and what it would type with Latin letters and unshifted digits.
  function namesOf({ key, keyCode, ctrlKey, metaKey, altKey, shiftKey }) {
    if (altKey) return [];
    if (ctrlKey || metaKey) return key === "Enter" ? RECORD : [];
    if (key === "Backspace") return [key];
    if (key.length !== 1) return [];
    return shiftKey ? [key] : [key.toUpperCase(), String.fromCharCode(keyCode)];
  }
  function buttonOf(names) {
    const shown = [...document.querySelectorAll("button:enabled kbd")];
    const of = (name) => shown.find((one) => one.getAttribute("aria-label") === `Shortcut ${name}`);
    return names.map(of).find(Boolean)?.closest("button");
  }

  function go(field, event) {
    event?.preventDefault();
    field.focus();
    field.select();
  }
  const scores = (text) => score() && /^[0-9.,-]$/.test(text);

  function take({ names, text }) {
    const field = document.activeElement?.closest(FIELD);
    if (text === "/" && !field) {
      if (search()) go(search());
    } else if (text && (field || scores(text))) {
      if (!field) go(score());
      document.execCommand("insertText", false, text);
    } else {
      if (names === RECORD) document.activeElement?.blur(); // a score counts once its field is left
      buttonOf(names)?.click();
    }
  }

  function follow() {
    const now = drawn(), still = idle();
    const answered = now ? Number(now.presses) >= awaited.presses || (still && now.run !== awaited.run) : still;
    if (!answered && !(still && performance.now() - awaited.since > LONGEST)) return;
    clearInterval(awaited.clock);
    awaited = null;
    while (held.length && !awaited) {
      const one = held.shift();
      if (one.place === onScreen()) take(one);
      else say(true);
    }
  }
  document.addEventListener("click", ({ target }) => {
    const now = drawn();
    if (!now || !target.closest?.(".stButton button:enabled")) return;
    say(false);
    clearInterval(awaited?.clock);
    const presses = (awaited?.presses ?? Number(now.presses)) + 1;
    awaited = { presses, run: now.run, since: performance.now(), clock: setInterval(follow, 20) };
  }, true);

  window.addEventListener("keydown", (event) => {
    if (!drawn()) return;
    const field = event.target.closest?.(FIELD), left = event.target.closest?.("[class*='st-key-score-']");
    if (event.key === "Escape" && (left || field?.closest("[class*='st-key-find-'], [class*='st-key-note-']"))) {
      if (left) event.stopImmediatePropagation(); // else it empties the field
      event.target.blur();
      return;
    }
    const names = namesOf(event);
    if (field && !(left && names === RECORD)) return;
    const typed = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
    const text = typed ? event.key : "";
    if (!awaited && text === "/") return search() && go(search(), event);
    if (!awaited && text && scores(text)) return go(score()); // before the character is entered: it goes there
    if (!(names.length || text) || (!awaited && !buttonOf(names))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.repeat) return;
    const one = { names, text, place: onScreen() };
    if (awaited) held.push(one);
    else take(one);
  }, true);
}
