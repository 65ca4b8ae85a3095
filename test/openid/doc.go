// Package openid signs people in to the console with a certified provider of OpenID Connect: oidc-provider, from npm.
//
//	browser ──▶ prism ──▶ provider: sign-in, consent ──▶ prism ──▶ ID token and userinfo of the provider
//
// Prism is standalone, or the services with the console behind the gateway.
package openid
