// The keys of a review. A key presses the button that shows it, once the page stands as the press before has left it:
// a page that is being drawn may lack the button, or still have that of the case before. A key that comes sooner is
// held, in order. It is for the case that was on screen as it fell: where another one is by then, it is not taken.
// A press waits for whatever else was asked of the page, too: of two requests that come together on a busy computer,
// Streamlit discards the first with the press that it would have told of.
if (!window.reviewKeys) {
  window.reviewKeys = true;
  const FIELD = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable='true']";
  const WIDGETS = "button, label, input, textarea, [role=option]"; // a click on which may ask for a run
  const TOGGLE = "[class*='st-key-review_several']"; // a click on which does
  const TYPED = "textarea, [class*='st-key-score-'] input"; // a change of which does
  const RECORD = ["Ctrl + Enter", "⌘ + Enter"];
  const WAYS = ["P", "N", "L"]; // to the case before, the next one, all of them: on whatever case, nothing is recorded
  const LONGEST = 5000; // ms without a run after which the page is thought not to answer
  const AT_REST = 200; // ms: sooner than this a run that may have been asked for may not have begun
  const EXPECTED = 2000; // ms: the same of one that was asked for
  const held = [];
  let awaited = null; // how many presses the page is to have answered, until it has; null of a run without a press
  let leaving = false; // a field, so that what is typed there counts with the press that follows at once

  const drawn = () => document.querySelector(".review-drawn")?.dataset;
  const onScreen = () => document.querySelector("h1[id^='review-case-']")?.id;
  const score = () => document.querySelector("[class*='st-key-score-'] input");
  const search = () => document.querySelector("[class*='st-key-find-'] input") || score();
  const app = () => document.querySelector("[data-testid=stApp]")?.dataset ?? {};
  const connected = () => app().testConnectionState === "CONNECTED";
  const idle = () => app().testScriptState === "notRunning" && connected();
  const say = (what) => {
    const place = document.querySelector(".review-late");
    if (place) place.textContent = what ? place.dataset[what] : "";
  };

  // Names of a key, as buttons show it: what it types, and what it would type with Latin letters and unshifted digits.
  function namesOf({ key, keyCode, ctrlKey, metaKey, altKey, shiftKey }) {
    if (altKey) return [];
    if (ctrlKey || metaKey) return key === "Enter" ? RECORD : [];
    if (key === "Backspace") return [key];
    if (key.length !== 1 || key === " ") return [];
    if (shiftKey) return /[a-z]/i.test(key) ? [] : [key];
    return [key.toUpperCase(), String.fromCharCode(keyCode)];
  }
  function buttonOf(names) {
    const shown = [...document.querySelectorAll("button:enabled kbd")];
    const stands = shown.filter((one) => !one.closest("[data-stale='true']"));
    const of = (name) => stands.find((one) => one.getAttribute("aria-label") === `Shortcut ${name}`);
    return names.map(of).find(Boolean)?.closest("button");
  }

  function go(field, event) {
    event?.preventDefault();
    field.focus();
    field.select();
  }
  const scores = (text) => score() && /^[0-9.,-]$/.test(text);

  // What a key does here: a function, or nothing where no field and no button takes it.
  function workOf({ names, text }) {
    const at = document.activeElement;
    const field = at && (at === score() || at === search()); // where keys that were held have led to
    if (text === "/" && !field) return search() && (() => go(search()));
    if (text && field) return () => document.execCommand("insertText", false, text);
    if (text && scores(text)) return () => { go(score()); document.execCommand("insertText", false, text); };
    if (field && names.includes("Backspace")) return () => document.execCommand("delete");
    const button = buttonOf(names);
    if (names !== RECORD) return button && (() => button.click());
    return button && (() => { leave(at); button.click(); });
  }
  function leave(field) {
    leaving = true;
    field?.blur();
    leaving = false;
  }

  function wait(presses, { pressed, rest = AT_REST } = {}) {
    clearInterval(awaited?.clock);
    const run = drawn()?.run, since = performance.now(), clock = setInterval(follow, 20);
    awaited = { presses, pressed, rest, run, since, clock };
  }
  function follow() {
    const now = drawn(), at = performance.now();
    awaited.idleSince = idle() ? (awaited.idleSince ?? at) : undefined;
    const still = at - awaited.idleSince > awaited.rest; // false where there is no such time
    const lost = !connected() || (still && at - awaited.since > LONGEST);
    const another = now?.run !== awaited.run; // than the run in which the page stood
    const done = awaited.presses === null ? another || still : Number(now?.presses) >= awaited.presses;
    const answered = now ? done : still;
    if (!answered && !lost) return;
    clearInterval(awaited.clock);
    const { changed, pressed } = awaited;
    awaited = null;
    if (!answered) {
      if (held.length || (another && pressed)) say("lost");
      held.length = 0;
    }
    if (changed) wait(null, { rest: EXPECTED });
    while (held.length && !awaited) {
      const [one] = held, work = workOf(one);
      const here = one.place === onScreen() || one.names.some((name) => WAYS.includes(name));
      if (here && !work && !idle()) return wait(null); // a run has begun in which it may come
      held.shift();
      if (!here) say("late");
      else work?.();
    }
  }
  // Presses are counted of buttons that show a key.
  document.addEventListener("click", ({ target, isTrusted }) => {
    const button = target.closest?.(".stButton button:enabled");
    if (!drawn() || !(button || target.closest?.(WIDGETS))) return;
    if (target.closest(TOGGLE)) return asked();
    if (!button?.querySelector("kbd")) {
      if (!awaited) wait(null);
      return;
    }
    if (isTrusted) say("");
    const before = Math.max(awaited?.presses ?? 0, Number(drawn().presses));
    wait(before + !(isTrusted && awaited?.pressed === button), { pressed: button }); // a double click may be heard once
  }, true);
  document.addEventListener("change", ({ target }) => {
    if (drawn() && !leaving && target.matches?.(TYPED)) asked();
  }, true);
  function asked() {
    if (awaited?.pressed) awaited.changed = true;
    else wait(null, { rest: EXPECTED });
  }

  window.addEventListener("keydown", (event) => {
    if (!drawn() && !awaited) return;
    const of = (parts) => event.target.closest?.(parts);
    const field = of(FIELD), inScore = of("[class*='st-key-score-']");
    if (event.key === "Escape" && (inScore || (field && of("[class*='st-key-find-'], [class*='st-key-note-']")))) {
      event.stopImmediatePropagation(); // else it empties a score, and what Enter has just found
      event.target.blur();
      return;
    }
    const names = namesOf(event);
    const left = held.some((one) => one.names === RECORD); // the next keys are no part of a note
    if (of("[role=dialog], [data-testid=stSidebar]") || (field && names !== RECORD && !left)) return;
    const text = names.length && event.key.length === 1 ? event.key : "";
    if (!awaited && text === "/") return search() && go(search(), event);
    if (!awaited && text && scores(text)) return go(score()); // before the character is entered: it goes there
    if (field && left) event.preventDefault();
    if (!names.length || (!awaited && idle() && !buttonOf(names))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.repeat) return;
    const one = { names, text, place: onScreen() }, work = awaited ? null : workOf(one);
    if (work) {
      say("");
      work();
      return;
    }
    held.push(one);
    if (!awaited) wait(null);
  }, true);
}
