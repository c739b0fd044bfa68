// Web sites of names: where a gateway serves them.

import { find } from "./api.js";
import { externalLink } from "./dom.js";

/** The URL of the gateway with a host name that the registry names first among the active ones; null where there is none. */
export async function gatewayUrl(signal) {
  const { gateways } = (await find("/gateways", signal)) ?? { gateways: [] };
  const urls = gateways.filter((gateway) => gateway.is_active).map(urlOfGateway);
  return urls.find((url) => url !== null) ?? null;
}

/** `http://localhost:5080` of an endpoint `localhost:5080`, `https://gw.example.com` of `gw.example.com` with port 443; null for what is no host,
 * and for an address, below which there are no names. */
export function urlOfGateway({ endpoint, http_port: port }) {
  const found = /^(https?:\/\/)?([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::(\d{1,5}))?\/?$/i.exec(endpoint);
  if (!found) return null;
  const [, scheme, host, own] = found;
  if (/^[\d.]+$/.test(host)) return null;
  const reached = Number(own ?? port);
  if (scheme) return `${scheme.toLowerCase()}${host}${own ? `:${own}` : ""}`;
  return reached === 443 ? `https://${host}` : `http://${host}:${reached}`;
}

/** Where a name is served; null where nobody serves it, or DNS cannot carry it. */
export function siteOf(name, gateway) {
  if (name.stage !== "live" || !name.is_dns) return null;
  if (name.url) return name.url;
  return gateway ? gateway.replace("://", `://${name.name}.`) : null;
}

/** A link to the site of a name; null where there is none. */
export function siteLink(name, gateway) {
  const url = siteOf(name, gateway);
  return url && externalLink(url);
}
