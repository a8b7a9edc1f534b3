import CCurl
import Glibc

/// One request over HTTP or HTTPS, made by libcurl in the calling thread, which it blocks.
package struct WebRequest: Sendable {
    /// What is sent along.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// So many bytes from a descriptor's beginning; it stays the caller's.
        case file(Int32, size: Int64)
    }

    /// `PUT` or `POST`.
    package var method: String
    /// Where to; its beginning is `http://` or `https://`.
    package var url: String
    /// Header lines, without what libcurl adds (Host, Content-Length).
    package var headers: [(name: String, value: String)]
    /// What is sent.
    package var body: Body
    /// How long a connection may take to be made.
    package var connecting: Duration
    /// How long nothing at all may go over the wire.
    package var stalling: Duration
    /// A file of certificates to trust instead of the system's; nil: the system's.
    package var authorities: String?

    package init(
        _ method: String, _ url: String, headers: [(name: String, value: String)], body: Body, connecting: Duration,
        stalling: Duration, authorities: String? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.connecting = connecting
        self.stalling = stalling
        self.authorities = authorities
    }

    /// Why none can be sent: libcurl cannot be loaded. Asked before a `WebPlace` is made.
    package static var problem: String? { CurlLibrary.shared.problem }

    /// What came back.
    package struct Answer: Sendable, Equatable {
        /// The status, such as 201.
        package let status: Int
        /// The beginning of what came with it, at most `mostText` bytes.
        package let text: [UInt8]
        /// How long it asks to be left alone (`Retry-After`, RFC 9110, 10.2.3); nil where it does not.
        package let retryAfter: Duration?
        /// Where a redirection leads (`Location`), as a whole URL; nil where the answer is none.
        package let redirect: String?
        /// The most bytes that are kept of it.
        package static let mostText = 4096
        /// Whether more may have come.
        package var isCut: Bool { text.count >= Self.mostText }
    }

    /// Why nothing came back.
    package enum Problem: Error, Sendable, Equatable {
        /// The caller asked to stop.
        case stopped
        /// The address makes no sense.
        case address(String)
        /// No connection, no trust, no answer: libcurl's own words.
        case connection(String)
        /// The request cannot be made as it is asked for, such as with a file of certificates that cannot be used; why.
        case setup(String)
    }

    /// Sends it and waits for the answer; redirections are not followed. `onProgress` is told every second at least how
    /// many bytes were sent so far; once it says false the request is broken off.
    package func send(onProgress: @escaping (Int64) -> Bool) throws(Problem) -> Answer {
        if let problem = Self.problem { throw .setup(problem) }
        // libcurl writes into it until the handle is gone.
        let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        defer { words.deallocate() }
        guard Self.isReady, let handle = libcurl.curl_easy_init() else { throw .setup("libcurl has no memory") }
        defer { libcurl.curl_easy_cleanup(handle) }
        try Self.check(dm_curl_words(CurlLibrary.shared.calls, handle, words), CURLOPT_ERRORBUFFER)
        let list = try headerList()
        defer { libcurl.curl_slist_free_all(list) }
        let transfer = Transferring(body, stalling, onProgress)
        try set(handle, list, Unmanaged.passUnretained(transfer).toOpaque())
        let code = withExtendedLifetime(transfer) { libcurl.curl_easy_perform(handle) }
        // `SSL certificate problem: self-signed certificate` says more than the code does.
        var reason: String { words.pointee == 0 ? Self.words(code) : String(cString: words) }
        switch code {
        // What is longer than anybody reads is not waited for.
        case CURLE_OK,
            CURLE_WRITE_ERROR where code == CURLE_OK || transfer.isFull:
            let status = dm_curl_status(CurlLibrary.shared.calls, handle)
            // Who answers before all is there may refuse it, but cannot have taken it.
            guard
                !(200..<300).contains(status) || Int64(dm_curl_uploaded(CurlLibrary.shared.calls, handle)) >= body.size
            else {
                throw .connection("it answered with status \(status) before it had received everything")
            }
            // HTTP has none of these for a last answer (RFC 9110, 15).
            guard (200...599).contains(status) else { throw .connection("the answer is not HTTP") }
            let seconds = min(Int64(dm_curl_retry_after(CurlLibrary.shared.calls, handle)), Self.longestWait)
            return Answer(
                status: status, text: transfer.answer, retryAfter: seconds > 0 ? .seconds(seconds) : nil,
                redirect: dm_curl_redirect(CurlLibrary.shared.calls, handle).map { String(cString: $0) })
        case CURLE_ABORTED_BY_CALLBACK where transfer.isLate: throw .connection("the answer took too long")
        case CURLE_ABORTED_BY_CALLBACK: throw .stopped
        // Of a URL that is right it says so of what came back: something, and no HTTP.
        case CURLE_UNSUPPORTED_PROTOCOL where WebPlace(url) != nil: throw .connection(reason)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: throw .address(reason)
        case CURLE_SSL_CACERT_BADFILE: throw .setup(reason)
        default: throw .connection(reason)
        }
    }

    /// What is asked for may be any number: a hundred years do.
    private static let longestWait: Int64 = 3_000_000_000

    private static func words(_ code: CURLcode) -> String {
        libcurl.curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }

    private static func check(_ code: CURLcode, _ option: CURLoption) throws(Problem) {
        guard code != CURLE_OK else { return }
        let name =
            libcurl.curl_easy_option_by_id(option).map { String(cString: $0.pointee.name) } ?? "\(option.rawValue)"
        throw .setup("libcurl rejected an option (\(name)): \(words(code))")
    }

    /// The lines of the header; freed by the caller.
    private func headerList() throws(Problem) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        // Without these two curl waits for a word before it sends a body, and says of POST what it is not.
        for header in ["Expect:", "Content-Type:"] + headers.map({ "\($0.name): \($0.value)" }) {
            guard let longer = libcurl.curl_slist_append(list, header) else {
                libcurl.curl_slist_free_all(list)
                throw .setup("libcurl has no memory for a header line")
            }
            list = longer
        }
        return list
    }

    private func set(
        _ handle: UnsafeMutableRawPointer, _ list: UnsafeMutablePointer<curl_slist>?, _ context: UnsafeMutableRawPointer
    ) throws(Problem) {
        func number(_ option: CURLoption, _ value: Int) throws(Problem) {
            try Self.check(dm_curl_number(CurlLibrary.shared.calls, handle, option, value), option)
        }
        func text(_ option: CURLoption, _ value: String) throws(Problem) {
            try Self.check(dm_curl_text(CurlLibrary.shared.calls, handle, option, value), option)
        }
        func pointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(Problem) {
            try Self.check(dm_curl_pointer(CurlLibrary.shared.calls, handle, option, value), option)
        }
        // Signals would hit any thread.
        try number(CURLOPT_NOSIGNAL, 1)
        try text(CURLOPT_PROTOCOLS_STR, "http,https")
        try text(CURLOPT_URL, url)
        // What is thought to stay on this host must not go to the environment's proxy.
        if WebPlace(url)?.isLoopback ?? false { try text(CURLOPT_NOPROXY, "*") }
        try text(CURLOPT_CUSTOMREQUEST, method)
        try pointer(CURLOPT_HTTPHEADER, list)
        try number(CURLOPT_CONNECTTIMEOUT_MS, connecting.milliseconds)
        try number(CURLOPT_LOW_SPEED_LIMIT, 1)
        try number(CURLOPT_LOW_SPEED_TIME, max(1, stalling.milliseconds / 1000))
        try number(CURLOPT_NOPROGRESS, 0)
        if let authorities {
            try text(CURLOPT_CAINFO, authorities)
            try Self.check(dm_curl_no_certificate_folder(CurlLibrary.shared.calls, handle), CURLOPT_CAPATH)
        }
        try number(CURLOPT_UPLOAD, 1)
        try Self.check(
            dm_curl_offset(CurlLibrary.shared.calls, handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.size)),
            CURLOPT_INFILESIZE_LARGE)
        for option in [CURLOPT_READDATA, CURLOPT_WRITEDATA, CURLOPT_XFERINFODATA] { try pointer(option, context) }
        try Self.check(
            dm_curl_on_transfer(CurlLibrary.shared.calls, handle, CURLOPT_READFUNCTION) {
                buffer, size, count, context in
                guard let buffer, let transfer = Transferring.of(context) else { return Int(CURL_READFUNC_ABORT) }
                return transfer.give(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
            }, CURLOPT_READFUNCTION)
        try Self.check(
            dm_curl_on_transfer(CurlLibrary.shared.calls, handle, CURLOPT_WRITEFUNCTION) {
                bytes, size, count, context in
                guard let bytes, let transfer = Transferring.of(context) else { return 0 }
                return transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
            }, CURLOPT_WRITEFUNCTION)
        try Self.check(
            dm_curl_on_progress(CurlLibrary.shared.calls, handle) { context, _, _, _, sent in
                (Transferring.of(context)?.goesOn(sent) ?? false) ? 0 : 1
            }, CURLOPT_XFERINFOFUNCTION)
    }

    /// libcurl is made ready once, before any thread uses it.
    private static let isReady = libcurl.curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

/// What libcurl's calls back work on, during one request.
private final class Transferring {
    private let body: WebRequest.Body
    private let patience: Duration
    private let onProgress: (Int64) -> Bool
    private var sent: Int64 = 0
    private var allSent: ContinuousClock.Instant?
    private(set) var answer: [UInt8] = []
    /// Whether more came than is kept.
    private(set) var isFull = false
    /// Whether the answer was not there in time, once all was sent.
    private(set) var isLate = false

    init(_ body: WebRequest.Body, _ patience: Duration, _ onProgress: @escaping (Int64) -> Bool) {
        self.body = body
        self.patience = patience
        self.onProgress = onProgress
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> Transferring? {
        context.map { Unmanaged<Transferring>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Fills the buffer with what comes next; 0 at the end.
    func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch body {
        case .bytes(let bytes):
            let next = bytes.dropFirst(Int(sent)).prefix(buffer.count)
            buffer.copyBytes(from: next)
            sent += Int64(next.count)
            return next.count
        case .file(let descriptor, let size):
            // No more than was announced, should somebody still write to it.
            let wanted = min(buffer.count, Int(clamping: size - sent))
            guard wanted > 0 else { return 0 }
            while true {
                let count = pread(descriptor, buffer.baseAddress, wanted, off_t(sent))
                if count < 0, errno == EINTR { continue }
                if count < 0 { return Int(CURL_READFUNC_ABORT) }
                sent += Int64(count)
                return count
            }
        }
    }

    /// Takes in a part of the answer; returns how much of it was wanted.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        let wanted = bytes.prefix(WebRequest.Answer.mostText - answer.count)
        answer += wanted
        isFull = wanted.count < bytes.count
        return wanted.count
    }

    /// A server that sends a byte now and then does not stall, but is not waited for either.
    func goesOn(_ sent: curl_off_t) -> Bool {
        if sent >= body.size {
            if allSent == nil { allSent = .now }
            if let allSent, ContinuousClock.now - allSent > patience { isLate = true }
        }
        return onProgress(Int64(sent)) && !isLate
    }
}

extension WebRequest.Body {
    fileprivate var size: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let size): size
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
