// A provider of OpenID Connect for tests: node provider.mjs CONFIG, which is JSON:
//   module    oidc-provider's index.js
//   host, port
//   client    the one client, as its metadata (client_id, client_secret, redirect_uris)
//   people    claims by login; any password is right
// Its sign-in and consent pages are those that oidc-provider has for development.
import { pathToFileURL } from "node:url";

const { module, host, port, client, people } = JSON.parse(process.argv[2]);
const { Provider } = await import(pathToFileURL(module));

const provider = new Provider(`http://${host}:${port}`, {
  clients: [client],
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified", "hd"] },
  findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  pkce: { required: () => true },
});
provider.listen(port, host, () => console.log("listening"));
