"use strict";

// This script shows the OpenAPI document of the same server. A text of the document becomes a text node or an attribute,
// never markup.

const main = document.getElementById("main");
const json = "application/json";
let api; // the OpenAPI document

fetch("/openapi.json", { credentials: "omit" })
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`The server responds with ${response.status}.`))))
  .then(show)
  .catch((error) => main.append(element("p", { role: "alert" }, "The OpenAPI document can't be shown. " + error.message)));

function show(found) {
  api = found;
  const { title, version, summary, description, license } = api.info;
  // The description's parts begin with their titles. The first part has none.
  const [[, opening], ...chapters] = ("\n" + description).split("\n## ").map((part) => [part.split("\n", 1)[0], part.replace(/.*\n/, "")]);
  const groups = api.tags.map((tag) => ({ ...tag, operations: operationsOf(tag.name) }));
  const schemas = Object.entries(api.components.schemas);
  document.querySelector(".version").textContent = "v" + version;
  document.querySelector("nav").append(...[
    element("h2", "Guide"), contents(chapters.map(([name]) => [slug(name), name])),
    groups.map(({ name, operations }) => [
      element("h2", link(slug(name), name)),
      contents(operations.map(({ operationId, method, summary }) => [operationId, verb(method), summary])),
    ]),
    element("h2", link("schemas", "Schemas")), contents(schemas.map(([name]) => ["schema-" + name, name])),
  ].flat(2));
  main.append(
    element("section.intro", element("h1", title), element("p.lead", summary), markdown(opening),
      chapters.map(([name, text]) => [element("h2", { id: slug(name) }, anchor(slug(name), name)), markdown(text)])),
    ...groups.map(({ name, description, operations }) => section(name, element("div.lead", markdown(description)), operations.map(operationArticle))),
    section("Schemas", element("p.lead", "The shapes of what is sent and received. Members marked ", required(), " are always there."),
      schemas.map(schemaArticle)),
    element("footer", element("p", `${title} v${version}. ${license.name}. This page and the `,
      element("a", { href: "/openapi.json" }, "OpenAPI document"), " describe the server that they come from.")),
  );
  markTheCurrentLink();
  if (location.hash) location.replace(location.hash); // The browser looked for the target before there was one.
}

function operationsOf(tag) {
  return Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({
    ...operation, path, method: method.toUpperCase(), parameters: (operation.parameters ?? []).map(resolve),
    ...bodyOf(operation.requestBody),
  }))).filter((operation) => operation.tags.includes(tag));
}

// An operation takes a body of one media type, or none.
function bodyOf(requestBody) {
  const [[type, { schema, examples }]] = Object.entries(requestBody?.content ?? { "": {} });
  return { type, schema, bodies: Object.values(examples ?? {}).map(resolve) };
}

// resolve follows a value's reference, if the value has one.
function resolve(value) {
  return value.$ref ? value.$ref.split("/").slice(1).reduce((at, name) => at[name], api) : value;
}

function operationArticle(operation) {
  const { method, path, operationId, summary, description, parameters, bodies, type, schema } = operation;
  const results = [];
  const errors = [];
  for (const [status, response] of Object.entries(operation.responses)) {
    const { description: meaning, content = {} } = resolve(response); // a 204 has none
    const examples = Object.entries(content).flatMap(([type, media]) => Object.values(media.examples).map((example) => [type, resolve(example)]));
    const schema = Object.values(content)[0]?.schema;
    if (/\/(Error|Unavailable)$/.test(schema?.$ref)) errors.push(...examples.map(([, example]) => errorRow(status, example)));
    else results.push(element("div.answer", element("p.cap", badge(status)), markdown(meaning)),
      examples.map(([type, example], at) => sample(type, example, at === 0 && status < "300")));
  }
  const route = path.split(/({[^}]*})/).map((part) => (part.startsWith("{") ? element("b", part) : part));
  return element("article.operation", { id: operationId },
    element("h3", anchor(operationId, summary)), element("p.route", verb(method), " ", element("code", route)), tryForm(operation),
    element("div.split",
      element("div.text", markdown(description),
        parameters.length > 0 && [element("h4", "Parameters"), rows(parameters)],
        type === json && [element("h4", "Body"), rows(membersOf(resolve(schema)))]),
      element("div.code",
        element("div.block", element("p.cap", "Request"), copyButton(), pre("Command line", commandLine(operation))),
        bodies.slice(1).map((example) => sample(type, example, false)), results)),
    errors.length > 0 && element("details.errors", element("summary", "Errors ", element("span.count", errors.length)),
      table(["Status", "Code", "Message", "When"], errors)));
}

function errorRow(status, { summary, value }) {
  const { code, message } = value.message ? value : value.error; // The body of a 503 has no code.
  return element("tr", element("td", badge(status)), element("td", code ? element("code", code) : "none"), element("td.message", message),
    element("td", markdown(summary)));
}

function sample(type, { summary, value }, open) {
  return element("details.block", { open }, element("summary", inline(summary), type !== json && [" ", element("span.media", type)]),
    copyButton(), pre("Example", type === json ? layout(JSON.stringify(value)) : value));
}

function schemaArticle([name, schema]) {
  const members = membersOf(schema);
  return element("article.schema", { id: "schema-" + name }, element("h3", anchor("schema-" + name, name), " ", element("span.type", typeOf(schema))),
    markdown(schema.description), limitsLine(schema), members.length > 0 && rows(members));
}

function membersOf({ properties = {}, required = [] }) {
  return Object.entries(properties).map(([name, schema]) => ({
    name, schema, required: required.includes(name), description: schema.description || resolve(schema).description,
  }));
}

// rows lists the parameters of a call or the members of a schema. Only a parameter shows the limits of a schema elsewhere.
function rows(all) {
  return element("dl.rows", all.map((row) => element("div",
    element("dt", element("code", row.name), " ", element("span.type", typeOf(row.schema)), row.in && [" ", element("span.in", "in " + row.in)],
      row.required && [" ", required()]),
    element("dd", markdown(row.description), limitsLine(row.in ? resolve(row.schema) : row.schema)))));
}

// typeOf names a schema's type in words, with links to the schemas that it refers to.
function typeOf(schema) {
  const name = schema.$ref?.split("/").at(-1);
  if (name) return [link("schema-" + name, name)];
  if (schema.const !== undefined) return [String(schema.const)];
  const choices = (!schema.properties && schema.oneOf) || schema.anyOf;
  if (choices) return choices.map((choice, at) => [at > 0 && " or ", typeOf(choice)]);
  const inner = schema.items ?? schema.additionalProperties;
  return [[schema.type ?? []].flat().join(" or ").replace("string", schema.format ?? "string"), inner && [" of ", typeOf(inner)]];
}

// limits are the rules of a schema's values, each in a few characters.
function limits(schema) {
  const span = (low, high, unit) => {
    const [least, most] = [low, high].map((n) => n?.toLocaleString("en"));
    if (least && most) return `${least}–${most} ${unit}`;
    return most ? `≤ ${most} ${unit}` : least && `≥ ${least} ${unit}`;
  };
  return [
    ...(schema.enum ?? []), span(schema.minLength, schema.maxLength, "characters"), span(schema.minItems, schema.maxItems, "items"),
    schema.minimum !== undefined && "≥ " + schema.minimum, schema.maximum !== undefined && "≤ " + schema.maximum,
    schema.pattern, schema.default !== undefined && "default " + schema.default,
  ].filter(Boolean);
}

function limitsLine(schema) {
  const all = limits(schema);
  return all.length > 0 && element("p.limits", all.map((limit) => [element("span", limit), " "]));
}

// commandLine is a call of curl that works when the address and the key are set.
function commandLine({ method, path, parameters, bodies, type }) {
  const query = new URLSearchParams();
  for (const { name, in: place, example } of parameters) {
    if (place === "path") path = path.replace(`{${name}}`, () => encodeURIComponent(example));
    else if (example !== undefined) query.append(name, example);
  }
  query.sort();
  const implied = method === "GET" || (method === "POST" && bodies.length > 0);
  if (query.size) path += "?" + query;
  const lines = [`curl ${implied ? "" : `-X ${method} `}"$PRISM_URL${path}"`, '  -H "Authorization: Bearer $PRISM_API_KEY"'];
  if (bodies.length > 0) {
    const body = type === json ? layout(JSON.stringify(bodies[0].value), 1).textContent : bodies[0].value;
    lines.push(`  -H "Content-Type: ${type}"`, `  ${type === json ? "-d" : "--data-binary"} '${body.replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n");
}

// tryForm sends an operation to the server that the page comes from.
function tryForm({ method, path, summary, parameters, bodies, type, security }) {
  const needsKey = (security ?? api.security).length > 0;
  const texts = bodies.map(({ value }) => (type === json ? layout(JSON.stringify(value)).textContent : value));
  const longest = Math.max(...texts.map((text) => text.split("\n").length));
  const textarea = texts.length > 0 && element("textarea", { rows: longest, spellcheck: "false" }, texts[0]);
  const options = bodies.map((body, at) => element("option", { value: texts[at] }, body.summary.replaceAll("`", "")));
  const example = texts.length > 1 && element("select.example", options);
  const secret = { type: "password", placeholder: "prism_…", required: true, spellcheck: "false", autocomplete: "off" };
  const key = needsKey && element("input.key", secret);
  const button = element("button", { type: "submit" }, "Send");
  const form = element("form", { "data-method": method, "data-path": path, "data-type": type, "aria-label": summary, autocomplete: "off" },
    element("div.ask",
      key && element("label", element("span", "API key ", required()), key),
      parameters.map((parameter) => element("label",
        element("span", element("code", parameter.name), " in " + parameter.in, parameter.required && [" ", required()]), input(parameter))),
      example && element("label.wide", element("span", "Example of a body"), example)),
    textarea && element("label.body", element("span", "Body"), textarea),
    element("p.send", button, " ",
      element("span", "A real call to the server that this page comes from.", needsKey && " The key stays in the memory of this page.")),
    element("p.outcome", { role: "status" }),
    element("div.block.reply", { hidden: true }, element("p.heads"), copyButton(), pre("Answer")));
  // A key is typed once. The inputs hold the key and nothing else does: a reload forgets the key.
  if (key) key.addEventListener("input", () => { for (const other of document.querySelectorAll(".key")) other.value = key.value; });
  if (example) example.addEventListener("change", () => { textarea.value = example.value; });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true"; // The attribute disabled would take the keyboard's focus away.
    await send(form).finally(() => { button.ariaDisabled = null; });
  });
  return element("details.try", element("summary", { "aria-label": "Try it: " + summary }, "Try it"), form);
}

// input asks for a parameter, with a choice where the values are known.
function input({ name, in: place, required, schema, example }) {
  const { type, format, enum: values, default: ordinary } = resolve(schema);
  const choices = type === "boolean" ? ["true", "false"] : values;
  const value = example === undefined || format === "uuid" ? "" : String(example); // The server has nothing of an example's id.
  let hint = format === "date-time" ? "2026-12-31T23:59:59Z" : format ?? "";
  if (choices) hint = "not sent";
  if (ordinary !== undefined) hint = `${ordinary} (default)`;
  const attributes = { name, "data-in": place, required };
  if (!choices) return element("input", { ...attributes, value, placeholder: hint, spellcheck: "false", autocapitalize: "none" });
  const options = choices.map((choice) => element("option", { selected: choice === value }, choice));
  return element("select", attributes, element("option", { value: "" }, hint), options);
}

const longestWait = 75; // seconds; no call of Prism takes so long
const mostShown = 200000; // characters; an export can be of any length

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
  outcome.replaceChildren(badge(response.status), ` ${response.statusText} in ${took} ms. ${note}`);
  reply.querySelector(".heads").textContent = ["Content-Type", "X-Request-Id", "WWW-Authenticate", "Retry-After"]
    .filter((name) => response.headers.has(name)).map((name) => `${name}: ${response.headers.get(name)}`).join("\n");
  const isJSON = !note && response.headers.get("Content-Type")?.startsWith(json);
  reply.querySelector("pre").replaceChildren(isJSON ? layout(text) : text);
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
  if (body !== undefined) headers.set("Content-Type", form.dataset.type);
  return new Request(path, {
    method: form.dataset.method, headers, body, cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout(longestWait * 1000),
  });
}

// read returns the part of a response that can be shown, and a note if that is not the whole response.
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

// markTheCurrentLink marks the link of the contents whose part of the page is read.
function markTheCurrentLink() {
  const wide = matchMedia("(min-width: 821px)");
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
      document.querySelector("nav [aria-current]")?.removeAttribute("aria-current");
      links.get(target.id).setAttribute("aria-current", "true");
      if (wide.matches) links.get(target.id).scrollIntoView({ block: "nearest" });
    }
  }, { rootMargin: "-72px 0px -75% 0px" });
  for (const id of links.keys()) seen.observe(document.getElementById(id));
}

// markdown shows the part of CommonMark that the document uses: paragraphs, lists, tables, code and strong text.
function markdown(text) {
  return text.trim().split("\n\n").filter(Boolean).map((block) => {
    const lines = block.trim().split("\n");
    if (lines[0].startsWith("- ")) return element("ul", lines.map((line) => element("li", inline(line.slice(2)))));
    if (!lines[0].startsWith("|")) return element("p", inline(lines.join(" ")));
    const [heads, , ...body] = lines.map((line) => line.slice(1, -1).split("|").map((cell) => inline(cell.trim())));
    return table(heads, body.map((cells) => element("tr", cells.map((cell) => element("td", cell)))));
  });
}

function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, at) => {
    if (at % 2 === 0) return part;
    return part.startsWith("`") ? element("code", part.slice(1, -1)) : element("strong", part.slice(2, -2));
  });
}

function table(heads, body) {
  return element("div.scroll", { tabindex: 0 }, element("table",
    element("thead", element("tr", heads.map((head) => element("th", { scope: "col" }, head)))), element("tbody", body)));
}

// layout indents and colours a JSON text: what is short stands on one line, except the whole text. Members and numbers stay
// as they were sent, which parsing would not keep.
function layout(text, depth = 0) {
  const tokens = [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|{\s*}|\[\s*\]|[{}[\],]|[^\s{}[\],"]+/g)];
  const parts = new DocumentFragment();
  let short = -1; // where the line ends that is kept short
  const line = (step) => { depth += step; parts.append("\n" + "  ".repeat(Math.max(depth, 0))); };
  for (const [at, [token, string, colon]] of tokens.entries()) {
    const opens = token === "{" || token === "[";
    if (opens && depth > 0 && at > short) short = shortEnd(tokens, at);
    if (colon) parts.append(element("span.n", string), ": ");
    else if (string) parts.append(element("span.s", string));
    else if (token === ",") parts.append(at < short ? ", " : ",");
    else if (/^[\]}]/.test(token) && at > short) { line(-1); parts.append(token); }
    else if (/^[{[\]}]/.test(token)) parts.append(token);
    else parts.append(element(/^[-\d]/.test(token) ? "span.d" : "span.w", token));
    if (at > short && (opens || token === ",")) line(opens ? 1 : 0);
  }
  return parts;
}

// shortEnd is where what opens at a token closes again, or -1 when that is too far away for one line.
function shortEnd(tokens, at) {
  let open = 0;
  for (let end = at, width = 0; end < tokens.length; end++) {
    const [token, , colon] = tokens[end];
    width += token.length + (colon || token === "," ? 1 : 0);
    if (token === "{" || token === "[") open++;
    if (token === "}" || token === "]") open--;
    if (width > 84) return -1;
    if (open === 0) return end;
  }
  return -1;
}

// copyButton copies the text of the pre beside the button. Only safe origins have a clipboard.
function copyButton() {
  if (!navigator.clipboard) return null;
  const button = element("button.copy", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}

function section(title, lead, articles) {
  return element("section.group", { "aria-labelledby": slug(title) }, element("h2", { id: slug(title) }, anchor(slug(title), title)), lead, articles);
}

const slug = (title) => title.toLowerCase().replaceAll(" ", "-");
const link = (id, ...text) => element("a", { href: "#" + id }, text);
const anchor = (id, text) => element("a.anchor", { href: "#" + id }, text);
const contents = (links) => element("ul", links.map(([id, ...text]) => element("li", link(id, text))));
const verb = (method) => element(`span.verb.${method}`, method);
const badge = (status) => element(`span.status.s${String(status)[0]}`, status);
const required = () => element("em.req", "required");
const pre = (label, text) => element("pre", { tabindex: 0, "aria-label": label }, text);

// element makes an element from its name and classes, then optional attributes, then children. An attribute that is false
// or undefined is left out. A child is a node, a text, a number or an array of these; false, null and undefined add nothing.
function element(selector, ...children) {
  const [name, ...classes] = selector.split(".");
  const node = document.createElement(name);
  if (classes.length > 0) node.className = classes.join(" ");
  const attributes = children[0]?.constructor === Object ? children.shift() : {};
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== false && child !== null && child !== undefined));
  return node;
}
