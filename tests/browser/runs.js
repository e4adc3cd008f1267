// Follows the runs of the page's script in the messages between browser and server, so that a test can wait until
// nothing is asked for, at work or about to be replaced. Numbers of fields: streamlit/proto/{ForwardMsg,BackMsg}.proto.
(() => {
  const RERUN_SCRIPT = 11, IS_AUTO_RERUN = 6;
  const METADATA = 2, NEW_SESSION = 4, SCRIPT_FINISHED = 6, AUTO_RERUN = 21, STOP_AUTO_RERUN = 28;
  const FINISHED_EARLY_FOR_RERUN = 2;
  let asked = true; // a new document asks for its first run as soon as it is connected
  let running = false;
  window.runs = 0; // asked for by this document
  const polling = new Set(); // parts of the page that ask again and again until a job is done

  function* fields(bytes) {
    let at = 0;
    const varint = () => {
      let value = 0, factor = 1, byte;
      do {
        byte = bytes[at++];
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte & 128);
      return value;
    };
    while (at < bytes.length) {
      const tag = varint(), field = tag >>> 3, kind = tag & 7;
      if (kind === 0) {
        yield [field, varint()];
      } else if (kind === 2) {
        const length = varint();
        yield [field, bytes.subarray(at, at + length)];
        at += length;
      } else {
        at += kind === 1 ? 8 : 4;
      }
    }
  }
  const values = (bytes, field) => [...fields(bytes)].filter(([one]) => one === field).map(([, value]) => value);
  const text = (bytes) => new TextDecoder().decode(bytes);

  function sent(bytes) {
    const [state] = values(bytes, RERUN_SCRIPT);
    if (!state || values(state, IS_AUTO_RERUN).length) return; // a part that asks by the clock counts as polling
    asked = true;
    window.runs += 1;
  }

  function received(bytes) {
    let wholePage = true;
    for (const [field, value] of fields(bytes)) {
      if (field === METADATA) {
        wholePage = !values(value, 6).some((run) => values(run, 2).length);
      } else if (field === NEW_SESSION) {
        asked = false;
        running = true;
        if (wholePage) polling.clear();
      } else if (field === SCRIPT_FINISHED) {
        running = false;
        asked ||= value === FINISHED_EARLY_FOR_RERUN;
      } else if (field === AUTO_RERUN) {
        values(value, 2).forEach((id) => polling.add(text(id)));
      } else if (field === STOP_AUTO_RERUN) {
        values(value, 1).forEach((id) => polling.delete(text(id)));
      }
    }
  }

  window.WebSocket = class extends window.WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({ data }) => data instanceof ArrayBuffer && received(new Uint8Array(data)));
    }
    send(data) {
      if (data instanceof Uint8Array) sent(data);
      super.send(data);
    }
  };

  window.pending = () => {
    if (asked || running || polling.size) return asked ? "a run that was asked for" : running ? "a run" : "a job";
    const app = document.querySelector("[data-testid=stApp]");
    if (app?.dataset.testScriptState !== "notRunning") return `the page, which is ${app?.dataset.testScriptState}`;
    if (app.dataset.testConnectionState !== "CONNECTED") return "the server"; // until then, files that come are not taken
    if (document.querySelector("[data-stale=true]")) return "a part that is about to be replaced";
    if (document.querySelector("[data-testid=stSkeleton]")) return "a part that is not drawn yet";
    const figures = [...document.querySelectorAll("[data-testid=stPlotlyChart]")];
    const undrawn = (figure) => figure.checkVisibility() && !figure.querySelector(".main-svg");
    return figures.some(undrawn) ? "a figure that is not drawn yet" : "";
  };

  // Figures and tables are fitted to their room after the page has been drawn: five looks in a row that see the same.
  let seen = "", alike = 0;
  window.atRest = () => {
    const parts = document.querySelectorAll("[data-testid=stMain], .js-plotly-plot, canvas");
    const now = JSON.stringify([...parts].map((each) =>
      [each.getBoundingClientRect(), each.scrollWidth, each.textContent.length]));
    alike = now === seen ? alike + 1 : 0;
    seen = now;
    return alike >= 5;
  };
})();
