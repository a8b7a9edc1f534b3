import CCurl
import Glibc

/// Where a URL leads, as libcurl reads it: what a request will go by.
package struct WebPlace: Sendable, Equatable {
    /// `http` or `https`.
    package let scheme: String
    /// A name or an address, in lower case.
    package let host: String

    /// Nil for what is not a URL with a host, and for other protocols.
    package init?(_ url: String) {
        guard CurlLibrary.shared.problem == nil, let reader = libcurl.curl_url() else { return nil }
        defer { libcurl.curl_url_cleanup(reader) }
        func part(_ part: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard libcurl.curl_url_get(reader, part, &text, 0) == CURLUE_OK, let text else { return nil }
            defer { libcurl.curl_free(text) }
            return String(cString: text).lowercased()
        }
        guard libcurl.curl_url_set(reader, CURLUPART_URL, url, 0) == CURLUE_OK, let scheme = part(CURLUPART_SCHEME),
            let host = part(CURLUPART_HOST), ["http", "https"].contains(scheme)
        else { return nil }
        self.scheme = scheme
        self.host = host
    }

    /// Whether nobody on the way can read what is sent: it is encrypted, or it stays on this host.
    package var isPrivate: Bool { scheme == "https" || isLoopback }

    /// Names are looked up by others; but libcurl takes `localhost` for the loopback address without asking.
    var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }
}
