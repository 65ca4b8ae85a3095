"use strict";
for (const button of document.querySelectorAll(".copy")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
const wide = matchMedia("(min-width: 821px)");
const links = new Map();
for (const link of document.querySelectorAll("nav a")) links.set(link.hash.slice(1), link);
const open = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    document.querySelector("nav [aria-current]")?.removeAttribute("aria-current");
    const link = links.get(entry.target.id);
    link.setAttribute("aria-current", "true");
    if (wide.matches) link.scrollIntoView({ block: "nearest" });
  }
}, { rootMargin: "-72px 0px -75% 0px" });
for (const id of links.keys()) open.observe(document.getElementById(id));

// A key is typed once. It is in the inputs and nowhere else: a page that is loaded anew has forgotten it.
const keys = document.querySelectorAll(".key");
for (const key of keys) {
  key.addEventListener("input", () => { for (const other of keys) other.value = key.value; });
}
for (const form of document.querySelectorAll(".try form")) {
  const example = form.querySelector(".example");
  example?.addEventListener("change", () => { form.querySelector("textarea").value = example.value; });
  const button = form.querySelector(".send button");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true"; // disabled, it would lose the keyboard's focus
    await send(form).finally(() => { button.ariaDisabled = null; });
  });
  form.parentElement.hidden = false;
}

const longestWait = 75; // seconds; no call of Prism takes so long
const mostShown = 200000; // characters; an export has no end in sight

async function send(form) {
  const outcome = form.querySelector(".outcome");
  const reply = form.querySelector(".reply");
  reply.hidden = true;
  outcome.textContent = "Waiting for the answer…";
  const began = performance.now();
  let request, response;
  try {
    request = requestOf(form);
  } catch (error) {
    outcome.textContent = "Not sent. " + error.message;
    return;
  }
  try {
    response = await fetch(request);
  } catch (error) {
    outcome.textContent = error.name === "TimeoutError" ? `No answer within ${longestWait} seconds.` : "No answer. The server can't be reached.";
    return;
  }
  const { text, note } = await read(response);
  const took = Math.round(performance.now() - began);
  outcome.replaceChildren(span("status s" + String(response.status)[0], response.status), ` ${response.statusText} in ${took} ms. ${note}`);
  reply.querySelector(".heads").textContent = ["Content-Type", "X-Request-Id", "WWW-Authenticate", "Retry-After"]
    .filter((name) => response.headers.has(name)).map((name) => `${name}: ${response.headers.get(name)}`).join("\n");
  const json = !note && response.headers.get("Content-Type")?.startsWith("application/json");
  reply.querySelector("pre").replaceChildren(json ? paint(text) : text);
  reply.hidden = false;
  for (const part of [reply, outcome]) part.scrollIntoView({ block: "nearest" });
}

function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = new Headers();
  for (const input of form.querySelectorAll("[data-in]")) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, () => encodeURIComponent(input.value));
    else if (!input.value) continue;
    else if (input.dataset.in === "query") query.append(input.name, input.value);
    else headers.append(input.name, input.value);
  }
  if (query.size) path += "?" + query;
  const key = form.querySelector(".key");
  if (key) headers.set("Authorization", "Bearer " + key.value.trim());
  const body = form.querySelector("textarea")?.value;
  if (body !== undefined) headers.set("Content-Type", "application/json");
  return new Request(path, {
    method: form.dataset.method, headers, body, cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout(longestWait * 1000),
  });
}

// read returns what can be shown of an answer, and a note when that is not all of it.
async function read(response) {
  const type = response.headers.get("Content-Type") ?? "text/plain";
  const reader = response.body?.getReader();
  if (!reader) return { text: "", note: "" };
  if (!/^(text\/|application\/jsonl?\b)/.test(type)) {
    await reader.cancel();
    return { text: "", note: "Only text is shown." };
  }
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { text: text + decoder.decode(), note: "" };
      text += decoder.decode(value, { stream: true });
      if (text.length > mostShown) {
        await reader.cancel();
        return { text: text.slice(0, mostShown), note: `These are its first ${mostShown.toLocaleString("en")} characters.` };
      }
    }
  } catch {
    return { text, note: "It broke off before its end." };
  }
}

// paint lays out a JSON text as the examples are: what is short stands on one line. Members and numbers stay as they were
// sent, which parsing would not keep.
function paint(text) {
  const tokens = [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|{\s*}|\[\s*\]|[{}[\],]|[^\s{}[\],"]+/g)];
  const parts = new DocumentFragment();
  let depth = 0;
  let short = -1; // where the line ends that is kept short
  const line = (step) => { depth += step; parts.append("\n" + "  ".repeat(Math.max(depth, 0))); };
  for (const [at, [token, string, colon]] of tokens.entries()) {
    const opens = token === "{" || token === "[";
    if (opens && depth > 0 && at > short) short = shortEnd(tokens, at);
    if (colon) parts.append(span("n", string), ": ");
    else if (string) parts.append(span("s", string));
    else if (token === ",") parts.append(at < short ? ", " : ",");
    else if (/^[\]}]/.test(token) && at > short) { line(-1); parts.append(token); }
    else if (/^[{[\]}]/.test(token)) parts.append(token);
    else parts.append(span(/^[-\d]/.test(token) ? "d" : "w", token));
    if (at > short && (opens || token === ",")) line(opens ? 1 : 0);
  }
  return parts;
}

// shortEnd is where what opens at a token closes again, or -1 when that is too far away for one line.
function shortEnd(tokens, at) {
  let open = 0;
  for (let end = at, width = 0; end < tokens.length && width <= 84; end++) {
    const [token, , colon] = tokens[end];
    width += token.length + (colon || token === "," ? 1 : 0);
    if (token === "{" || token === "[") open++;
    if (token === "}" || token === "]") open--;
    if (open === 0) return end;
  }
  return -1;
}

function span(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}
