// Package outbound makes calls to addresses that users choose, so that no caller reaches what only this process reaches: a host is
// resolved once, each of its addresses is checked, and one of them is dialled by its number (spec: delivery-addresses).
package outbound

import (
	"errors"
	"net/netip"
	"strings"
)

// Networks are networks that an operator allows beside the public ones, as a setting has them: 10.0.0.0/8,fd00::/8.
type Networks []netip.Prefix

// UnmarshalText implements encoding.TextUnmarshaler: commas separate networks. An address is a network of one.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = nil
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			var addr netip.Addr
			if addr, err = netip.ParseAddr(part); err == nil && addr.Zone() == "" {
				prefix = netip.PrefixFrom(addr, addr.BitLen())
			}
		}
		if err != nil || !prefix.IsValid() || prefix.Addr().Is4In6() || prefix != prefix.Masked() {
			return errors.New("must be networks such as 10.0.0.0/8 or fd00::/8, separated by commas")
		}
		*n = append(*n, prefix)
	}
	return nil
}

// Contains tells whether an address is in one of the networks.
func (n Networks) Contains(a netip.Addr) bool {
	a = a.Unmap()
	for _, prefix := range n {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// Public tells whether an address is a global unicast address of the IANA: none of the special-purpose registries of IPv4 and IPv6,
// whether or not these call it globally reachable, none for multicast, and none that is not assigned to unicast. An IPv4 address that is
// mapped into IPv6 is that IPv4 address, since it is dialled as such. Of other IPv6 addresses that hold one (NAT64, 6to4, Teredo)
// none is public.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	special := special6
	if a.Is4() {
		special = special4
	} else if !unicast6.Contains(a) {
		return false
	}
	for _, prefix := range special {
		if prefix.Contains(a) {
			return false
		}
	}
	return true
}

// unicast6 is all that the IANA has assigned to global unicast of IPv6.
var unicast6 = netip.MustParsePrefix("2000::/3")

// special4 is what is not public of IPv4 (https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast).
var special4 = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // shared by the customers of a carrier
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link local, where clouds have their metadata
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.31.196.0/24", // AS112
	"192.52.193.0/24", // AMT
	"192.88.99.0/24",  // relays of 6to4
	"192.168.0.0/16",  // private
	"192.175.48.0/24", // AS112
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, and broadcast
)

// special6 is what is not public of unicast6 (https://www.iana.org/assignments/iana-ipv6-special-registry).
var special6 = prefixes(
	"2001::/23",         // protocol assignments: Teredo, benchmarks, ORCHID and others
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
)

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// numeric tells whether a host is an IPv4 address in a spelling of its own, such as 0x7f.1 or 2130706433, which some resolvers take for
// one: its last label is a number (https://url.spec.whatwg.org/#ends-in-a-number-checker).
func numeric(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
