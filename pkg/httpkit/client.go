package httpkit

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Proxies are the addresses of proxies whose X-Forwarded-For is believed (spec: client-address). The text is a list of
// addresses and networks in CIDR form, with commas or spaces between them.
type Proxies []netip.Prefix

// UnmarshalText reads the list. The error does not repeat the text.
func (p *Proxies) UnmarshalText(text []byte) error {
	*p = nil
	for item := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == ',' || r == ' ' }) {
		network, err := netip.ParsePrefix(item)
		if address, alone := netip.ParseAddr(item); alone == nil {
			network, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return errors.New("is no list of addresses and networks")
		}
		*p = append(*p, network.Masked())
	}
	return nil
}

// Everywhere trusts every peer, for a server that answers only peers with a token.
func Everywhere() Proxies {
	return Proxies{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
}

func (p Proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// client is the address of the client behind the peer: the last one of X-Forwarded-For that no trusted proxy has, since
// everything before may be made up. An IPv6 address stands for its /64, which is what one client has.
func (p Proxies) client(peer net.Addr, forwarded [][]byte) netip.Addr {
	var client netip.Addr
	if tcp, ok := peer.(*net.TCPAddr); ok {
		client = tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	hops := bytes.Split(bytes.Join(forwarded, []byte(",")), []byte(","))
	for _, hop := range slices.Backward(hops) {
		if !p.trusts(client) {
			break
		}
		next, ok := parseHop(string(bytes.TrimSpace(hop)))
		if !ok {
			break
		}
		client = next
	}
	if client.Is6() {
		network, _ := client.Prefix(64) // fails for more bits than an address has alone
		client = network.Addr()
	}
	if !client.IsValid() { // a connection of another kind than TCP
		client = netip.IPv4Unspecified()
	}
	return client
}

// parseHop reads an address, which some proxies send with a port.
func parseHop(text string) (netip.Addr, bool) {
	if address, err := netip.ParseAddrPort(text); err == nil {
		return address.Addr().Unmap().WithZone(""), true
	}
	address, err := netip.ParseAddr(text)
	return address.Unmap().WithZone(""), err == nil
}

// Client is the address of the request's client (spec: client-address).
func Client(c *fiber.Ctx) netip.Addr { return exchangeOf(c).client() }

// client is the address of the request's client.
func (x *exchange) client() netip.Addr {
	proxies := x.server.cfg.TrustedProxies
	var forwarded [][]byte
	if len(proxies) > 0 {
		forwarded = x.fctx.Request.Header.PeekAll("X-Forwarded-For")
	}
	return proxies.client(x.fctx.RemoteAddr(), forwarded)
}
