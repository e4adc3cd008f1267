// The keys of a review. A key presses the button that shows it, once the page stands as the press before has left it:
// a page that is being drawn may lack the button, or still have that of the case before. A key that comes sooner is
// held, in order. It is for the case that was on screen as it fell: where another one is by then, it is not taken.
// The listener asks nothing of the page behind a press that is not answered, as by leaving a note: of two requests that
// come together on a busy computer, Streamlit discards the first with its press.
if (!window.reviewKeys) {
  window.reviewKeys = true;
  const FIELD = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable='true']";
  const RECORD = ["Ctrl + Enter", "⌘ + Enter"];
  const WAYS = ["P", "N", "L"]; // to the case before, the next one, all of them: on whatever case, nothing is recorded
  const AT_REST = 200; // ms: sooner than this a run that was asked for may not have begun
  const LONGEST = 5000; // ms after a press, the page being at rest, after which it is thought not to be heard
  const EVER = 15000; // ms, at rest or not
  const held = [];
  let led = null; // the note that the key W has led to
  let awaited = null; // how many presses the page is to have answered, until it has; null of a run without a press

  const drawn = () => document.querySelector(".review-drawn")?.dataset;
  const onScreen = () => document.querySelector("h1[id^='review-case-']")?.id;
  const toggle = () => document.querySelector("[class*='st-key-review_several'] input");
  const score = () => document.querySelector("[class*='st-key-score-'] input");
  const search = () => document.querySelector("[class*='st-key-find-'] input") || score();
  const note = () => document.querySelector("[class*='st-key-note-'] textarea");
  const app = () => document.querySelector("[data-testid=stApp]")?.dataset ?? {};
  const connected = () => app().testConnectionState === "CONNECTED";
  const agrees = () => !toggle() || drawn()?.several === String(toggle().checked); // what a class's key does hangs on it
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
    const field = at && [score(), search(), led].includes(at); // where keys that were held have led to
    if (text === "/" && !field) return search() && (() => go(search()));
    if (text && field) return () => document.execCommand("insertText", false, text);
    if (names.includes("W")) return note() && (() => (led = note()).focus());
    if (text && scores(text)) return () => { go(score()); document.execCommand("insertText", false, text); };
    if (field && names.includes("Backspace")) return () => document.execCommand("delete");
    const button = buttonOf(names);
    if (names !== RECORD) return button && (() => button.click());
    return button && (() => { led = null; at?.blur(); button.click(); }); // what is typed counts once its field is left
  }

  function wait(presses, pressed) {
    clearInterval(awaited?.clock);
    const since = awaited?.pressed ? awaited.since : performance.now(); // of the first that is not answered
    awaited = { presses, pressed, run: drawn()?.run, since, clock: setInterval(follow, 20) };
  }
  function follow() {
    const now = drawn(), at = performance.now();
    awaited.idleSince = idle() ? (awaited.idleSince ?? at) : undefined;
    const still = at - awaited.idleSince > AT_REST; // false where there is no such time
    const waited = at - awaited.since, lost = !connected() || (still && waited > LONGEST) || waited > EVER;
    const another = now?.run !== awaited.run; // than the run in which the page stood
    const done = awaited.presses === null ? another || still : Number(now?.presses) >= awaited.presses;
    const answered = now ? done && agrees() : still;
    if (!answered && !lost) return;
    clearInterval(awaited.clock);
    const { pressed } = awaited;
    awaited = null;
    if (!answered) {
      if (held.length || pressed) say("lost");
      held.length = 0;
    }
    while (held.length && !awaited) {
      const [one] = held, work = workOf(one);
      const here = one.place === onScreen() || one.names.some((name) => WAYS.includes(name));
      if (here && !work && !idle()) return wait(null); // a run has begun in which it may come
      held.shift();
      if (!here) say("late");
      else work?.();
    }
  }
  document.addEventListener("click", ({ target, isTrusted }) => {
    const button = drawn() && target.closest?.(".stButton button:enabled");
    if (!button) return;
    if (isTrusted) say("");
    if (!button.querySelector("kbd")) { // not of the review, or one that leads away: perhaps not counted
      if (!awaited) wait(null);
      return;
    }
    const before = Math.max(awaited?.presses ?? 0, Number(drawn().presses));
    wait(before + !(isTrusted && awaited?.pressed === button), button); // a double click may be heard once
  }, true);
  document.addEventListener("pointerdown", ({ target }) => {
    held.forEach((one) => { if (one.field === target) one.field = null; }); // gone back to: what is typed is of it again
  }, true);

  let top;
  function atTop() { // a case opens at its name
    const now = onScreen();
    if (now && now !== top) document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
    top = now;
  }
  new MutationObserver(atTop).observe(document.body, { childList: true, subtree: true, attributeFilter: ["id"] });
  atTop();

  window.addEventListener("keydown", (event) => {
    if (!drawn() && !awaited) return;
    const of = (parts) => event.target.closest?.(parts);
    const field = of(FIELD), inScore = of("[class*='st-key-score-']");
    if (event.key === "Escape" && (inScore || (field && of("[class*='st-key-find-'], [class*='st-key-note-']")))) {
      event.stopImmediatePropagation(); // else it empties a score, and what Enter has just found
      event.target.blur();
      return;
    }
    const noted = event.key === " " && held.some((one) => one.names.includes("W")); // of the note to come
    const names = noted ? [" "] : namesOf(event);
    const left = field && held.some((one) => one.field === event.target); // by a key: the next are no part of a note
    if (of("[role=dialog], [data-testid=stSidebar], .st-key-data_bar") || (field && names !== RECORD && !left)) return;
    const text = names.length && event.key.length === 1 ? event.key : "";
    if (!awaited && text === "/") return search() && go(search(), event);
    if (!field && event.key === "?") return document.querySelector(".st-key-review_shortcuts button")?.click();
    if (!awaited && text && scores(text)) return go(score()); // before the character is entered: it goes there
    if (left && !event.ctrlKey && !event.metaKey && !/^F\d/.test(event.key)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    if (!names.length || (!awaited && idle() && !buttonOf(names) && !(names.includes("W") && note()))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.repeat) return;
    const one = { names, text, place: onScreen(), field: names === RECORD && field ? event.target : null };
    const work = awaited || !agrees() ? null : workOf(one);
    if (work) {
      say("");
      work();
      return;
    }
    held.push(one);
    if (!awaited) wait(null);
  }, true);
}
