// What a page of a stranger can try at a port of this computer. Gives back what it tried, and of what it could read
// anything: the answer itself, whether there was one, or that something in it ran or was drawn.
const [base, tokens, done] = arguments;
const paths = ["/mcp", "/mcp/direct", "/mcp/server/fake", "/sse", "/messages", "/request", "/api/status", "/api/events", "/"];
const tried = [], read = [], texts = new Set(), jobs = [];
const within = (promise) => Promise.race([promise, new Promise((end) => setTimeout(end, 60_000))]);
const attempt = (what, work) => {
  tried.push(what);
  jobs.push(within(work().catch(() => 0)).then((bytes) => bytes && read.push(what)));
};
const message = (method, params) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" }, "io.modelcontextprotocol/clientCapabilities": {} };
const calls = [
  message("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } }),
  message("tools/call", { name: "execute_mcp_tool", arguments: { tool_path: "fake:echo", arguments: { text: "x" } }, _meta: meta }),
  JSON.stringify({ do: "change", change: "remove", name: "fake" }),
];
const address = (path, by, token) => `${base}${path}?by=${by}${token ? `&token=${token}&access_token=${token}` : ""}`;
const body = (response) => response.type.startsWith("opaque") ? 0 : response.text().then((text) => texts.add(`${response.status} ${text}`));
const hidden = (tag, set) => {
  const made = document.createElement(tag);
  Object.assign(made, set);
  made.style.display = "none";
  (document.body ?? document.documentElement).append(made);
  return made;
};
const loads = (made, seen) => new Promise((end) => {
  made.addEventListener("load", () => end(seen()));
  made.addEventListener("error", () => end(0));
});
const inside = (frame) => {
  try {
    const text = frame.contentDocument?.body?.innerText ?? "";
    if (text) texts.add(`frame ${text}`);
    return text.length;
  } catch { return 0; }
};

for (const path of paths) {
  for (const token of tokens) {
    const bearer = token ? { authorization: `Bearer ${token}` } : {};
    for (const mode of ["cors", "no-cors", "same-origin"]) {
      for (const method of ["GET", "HEAD"]) {
        attempt(`fetch ${mode} ${method}`, () => fetch(address(path, "fetch", token), { mode, method, credentials: "include", headers: mode == "no-cors" ? {} : bearer }).then(body));
      }
      for (const [at, kind] of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", ""].entries()) {
        const sent = new Blob([calls[at % calls.length]], { type: kind });
        attempt(`fetch ${mode} POST ${kind}`, () => fetch(address(path, `post-${mode}`, token), { mode, method: "POST", body: sent, credentials: "include", headers: mode == "no-cors" ? {} : bearer }).then(body));
      }
    }
    for (const method of ["PUT", "DELETE", "OPTIONS", "PATCH"]) {
      attempt(`fetch ${method}`, () => fetch(address(path, "other", token), { method, headers: bearer }).then(body));
    }
    attempt("xhr", () => new Promise((end) => {
      const asked = new XMLHttpRequest();
      asked.open("POST", address(path, "xhr", token));
      asked.setRequestHeader("content-type", "text/plain");
      asked.onloadend = () => { if (asked.status) texts.add(`${asked.status} ${asked.responseText}`); end(asked.status); };
      asked.send(calls[1]);
    }));
  }
  const token = tokens.at(-1);
  for (const kind of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    attempt(`form ${kind}`, async () => {
      const name = `f${Math.random()}`;
      const frame = hidden("iframe", { name });
      // The name, an equals sign and the value are one message where the content type is text/plain.
      const form = hidden("form", { method: "POST", enctype: kind, target: name, action: address(path, `form-${kind}`, token) });
      const [begin, end] = calls[1].split('"text":"');
      form.append(Object.assign(document.createElement("input"), { name: `${begin}"text":"`, value: end }));
      form.submit();
      return loads(frame, () => inside(frame));
    });
  }
  attempt("beacon", async () => {
    navigator.sendBeacon(address(path, "beacon", token), new Blob([calls[1]], { type: "text/plain" }));
    return 0;
  });
  attempt("image", () => { const made = new Image(); made.src = address(path, "image", token); return loads(made, () => made.naturalWidth); });
  attempt("script", () => loads(hidden("script", { src: address(path, "script", token) }), () => window.strange ?? 0));
  attempt("style", () => {
    const link = hidden("link", { rel: "stylesheet", href: address(path, "style", token) });
    return loads(link, () => getComputedStyle(document.documentElement).getPropertyValue("--strange").length);
  });
  attempt("frame", () => { const frame = hidden("iframe", { src: address(path, "frame", token) }); return loads(frame, () => inside(frame)); });
  attempt("events", () => new Promise((end) => {
    const events = new EventSource(address(path, "events", token));
    events.onopen = events.onmessage = () => { events.close(); end(1); };
    events.onerror = () => { events.close(); end(0); };
  }));
  attempt("socket", () => new Promise((end) => {
    const socket = new WebSocket(address(path, "socket", token).replace("http", "ws"));
    socket.onopen = () => { socket.close(); end(1); };
    socket.onerror = () => end(0);
  }));
}
Promise.all(jobs).then(() => done({ tried: tried.length, read: [...new Set(read)], texts: [...texts] }));
