package outbound

import (
	"net/netip"
	"strings"
	"testing"
)

// spec: delivery-addresses
func TestOnlyGlobalUnicastIsPublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "9.255.255.255": true, "11.0.0.0": true, "172.15.255.255": true, "172.32.0.0": true,
		"100.63.255.255": true, "100.128.0.0": true, "192.167.255.255": true, "192.169.0.0": true, "198.17.255.255": true, "198.20.0.0": true,
		"223.255.255.255": true, "192.0.1.0": true, "169.253.255.255": true, "169.255.0.0": true,
		"0.0.0.0": false, "0.255.255.255": false, "10.0.0.1": false, "10.255.255.255": false, "100.64.0.0": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.255.255.255": false, "169.254.169.254": false, "172.16.0.0": false, "172.31.255.255": false,
		"192.0.0.1": false, "192.0.0.9": false, "192.0.2.1": false, "192.31.196.1": false, "192.52.193.1": false, "192.88.99.1": false,
		"192.168.0.1": false, "192.175.48.1": false, "198.18.0.0": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false,
		"224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,

		"2606:4700:4700::1111": true, "2001:4860:4860::8888": true, "2001:200::1": true, "2003::1": true, "2a00::1": true, "3ffe::1": true,
		"::": false, "::1": false, "::8.8.8.8": false, "64:ff9b::8.8.8.8": false, "64:ff9b::10.0.0.1": false, "64:ff9b:1::1": false,
		"100::1": false, "100:0:0:1::1": false, "2001::1": false, "2001:1::1": false, "2001:2::1": false, "2001:10::1": false, "2001:20::1": false,
		"2001:db8::1": false, "2002:808:808::1": false, "2002:a00:1::1": false, "2620:4f:8000::1": false, "3fff::1": false, "3fff:fff::1": false,
		"4000::1": false, "5f00::1": false, "fc00::1": false, "fd00:ec2::254": false, "fe80::1": false, "fec0::1": false, "ff02::1": false,
		"fe80::1%eth0": false, "2606:4700:4700::1111%eth0": false,
		"::ffff:8.8.8.8": true, "::ffff:10.0.0.1": false, "::ffff:127.0.0.1": false, "::ffff:0:127.0.0.1": false,
	} {
		if got := Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// spec: delivery-addresses
func TestSpellingsOfAddressesAreNoHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"2130706433": true, "0x7f.1": true, "0x7f000001": true, "0177.0.0.1": true, "127.1": true, "127.0.0.1.": true, "0x7F.0x": true,
		"1.2.3.4.5": true, "a.0x1": true, "": true, ".": true, "256.256.256.256": true,
		"example.com": false, "1.example": false, "0x7g": false, "127.0.0.1.nip.io": false, "xn--p1ai": false, "a1": false, "deadbeef": false,
	} {
		if got := numeric(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

func TestNetworksAreParsed(t *testing.T) {
	t.Parallel()
	var n Networks
	if err := n.UnmarshalText([]byte("10.0.0.0/8, fd00::/8,127.0.0.1,::1,")); err != nil || len(n) != 4 {
		t.Fatal(n, err)
	}
	for text, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "11.0.0.0": false, "fd12::1": true, "127.0.0.1": true, "127.0.0.2": false, "::1": true, "::2": false,
	} {
		if got := n.Contains(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"10.0.0.1/8", "10.0.0.0/33", "::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "fe80::1%eth0", "localhost", "10.0.0.0-10.0.0.9", "10"} {
		if err := n.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// An address that is public is in no network that Go's own library knows as another one, and stays what it is when it is mapped.
func FuzzPublic(f *testing.F) {
	for _, text := range []string{"8.8.8.8", "10.0.0.1", "::1", "::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::1.2.3.4", "fe80::1%eth0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := netip.ParseAddr(text)
		if err != nil || !Public(a) {
			return
		}
		if !a.Unmap().IsGlobalUnicast() || a.Unmap().IsPrivate() || a.Zone() != "" {
			t.Fatalf("%s is public", a)
		}
		if a.Is4() && !Public(netip.AddrFrom16(a.As16())) {
			t.Fatalf("%s is not public when it is mapped", a)
		}
		if a = a.Unmap(); a.Is6() {
			b := a.As16()
			for _, network := range special6 {
				if network.Contains(a) {
					t.Fatalf("%s is public", a)
				}
			}
			if b[0]>>5 != 1 || b[0] == 0x20 && b[1] == 0x02 || strings.HasPrefix(a.StringExpanded(), "2001:0") && b[2]&0xfe == 0 {
				t.Fatalf("%s is public", a)
			}
		}
	})
}
