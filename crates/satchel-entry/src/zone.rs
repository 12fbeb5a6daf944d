//! Where an IP address lies: on this computer, in a network of its own, or on the internet. The one answer for installs,
//! sign-ins and icons. Resolves no names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network zone of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// This computer.
    Loopback,
    /// A non-public network: private, link-local, shared, or of cloud services.
    Private,
    /// The internet.
    Public,
}

/// The zone of this address. IPv6 forms that embed an IPv4 address count as that.
pub fn zone(address: IpAddr) -> Zone {
    match address {
        IpAddr::V4(four) => zone_v4(four),
        IpAddr::V6(six) => zone_v6(six),
    }
}

fn zone_v4(four: Ipv4Addr) -> Zone {
    let [first, second, third, _] = four.octets();
    let shared = first == 100 && second & 0xc0 == 64;
    let benchmark = first == 198 && second & 0xfe == 18;
    let protocol = first == 192 && second == 0 && third == 0;
    let documents = matches!((first, second, third), (192, 0, 2) | (198, 51, 100) | (203, 0, 113));
    // Nothing public answers there any more (RFC 7526).
    let relay = (first, second, third) == (192, 88, 99);
    if four.is_loopback() {
        Zone::Loopback
    } else if first == 0
        || shared
        || benchmark
        || protocol
        || documents
        || relay
        || first >= 240
        || four.is_private()
        || four.is_link_local()
        || four.is_multicast()
    {
        Zone::Private
    } else {
        Zone::Public
    }
}

fn zone_v6(six: Ipv6Addr) -> Zone {
    if six.is_loopback() {
        return Zone::Loopback;
    }
    let parts = six.segments();
    let four = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match parts {
        // Mapped (::ffff:a.b.c.d), compatible (::a.b.c.d), and NAT64 (64:ff9b::a.b.c.d).
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            zone_v4(four(high, low))
        }
        // Local NAT64, 6to4, Teredo, and addresses that are discarded or only for documents.
        [0x64, 0xff9b, ..] => Zone::Private,
        // Nothing public answers there any more, so that what is embedded decides only about this computer.
        [0x2002, high, low, ..] if zone_v4(four(high, low)) == Zone::Loopback => Zone::Loopback,
        [0x2002, ..] => Zone::Private,
        [0x2001, 0 | 0xdb8, ..] | [0x100, 0, 0, 0, ..] => Zone::Private,
        // For documents (RFC 9637), and routes within one network (RFC 9602).
        [0x3fff, second, ..] if second < 0x1000 => Zone::Private,
        [0x5f00, ..] => Zone::Private,
        [first, ..] if first & 0xfe00 == 0xfc00 || first & 0xff80 == 0xfe80 || first & 0xff00 == 0xff00 => {
            Zone::Private
        }
        _ => Zone::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_lies_where_its_packets_go() {
        for (address, expected) in [
            ("127.0.0.1", Zone::Loopback),
            ("::1", Zone::Loopback),
            ("::ffff:127.0.0.1", Zone::Loopback),
            ("10.0.0.5", Zone::Private),
            ("172.16.3.1", Zone::Private),
            ("192.168.1.1", Zone::Private),
            ("169.254.169.254", Zone::Private),
            ("100.64.0.1", Zone::Private),
            ("0.0.0.0", Zone::Private),
            ("255.255.255.255", Zone::Private),
            ("::ffff:10.0.0.5", Zone::Private),
            ("64:ff9b::a00:5", Zone::Private),
            ("2002:a00:5::1", Zone::Private),
            ("2002:808:808::1", Zone::Private),
            ("2002:7f00:1::", Zone::Loopback),
            ("64:ff9b::7f00:1", Zone::Loopback),
            ("64:ff9b:1::808:808", Zone::Private),
            ("2001:0:4136:e378::1", Zone::Private),
            ("192.88.99.1", Zone::Private),
            ("192.88.98.1", Zone::Public),
            ("3fff:fff::1", Zone::Private),
            ("3fff:1000::1", Zone::Public),
            ("5f00::1", Zone::Private),
            ("198.18.0.1", Zone::Private),
            ("198.19.255.255", Zone::Private),
            ("0.1.2.3", Zone::Private),
            ("224.0.0.1", Zone::Private),
            ("240.0.0.1", Zone::Private),
            ("192.0.2.1", Zone::Private),
            ("ff02::1", Zone::Private),
            ("::7f00:1", Zone::Loopback),
            ("fd00::1", Zone::Private),
            ("fe80::1", Zone::Private),
            ("8.8.8.8", Zone::Public),
            ("2606:4700::1", Zone::Public),
            ("64:ff9b::808:808", Zone::Public),
        ] {
            assert_eq!(zone(address.parse().unwrap()), expected, "{address}");
        }
    }
}
