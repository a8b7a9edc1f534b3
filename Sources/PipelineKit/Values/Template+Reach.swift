package import SystemPackage

extension Template {
    /// What follows the fixed folder, without slashes at its end.
    private var tail: [Segment] {
        guard segments.count > 1 || segments.first?.isPlaceholder == true else { return [] }
        var tail = segments
        if case .text(let first) = segments[0], let slash = first.lastIndex(of: "/") {
            tail[0] = .text(String(first[first.index(after: slash)...]))
        }
        while case .text(var last)? = tail.last, last.isEmpty || last.hasSuffix("/") {
            tail.removeLast()
            while last.hasSuffix("/") { last.removeLast() }
            if !last.isEmpty { tail.append(.text(last)) }
        }
        return tail
    }

    /// Whether the result is the same for every job.
    package var isFixed: Bool { !segments.contains(where: \.isPlaceholder) }

    /// Whether the result can be this path below the fixed folder. What a placeholder stands for is not known here, so
    /// each counts as any text: rather one `true` too many.
    package func canBecome(_ path: FilePath) -> Bool {
        let wanted = path.bytes
        // How much of `wanted` the segments so far can account for.
        var reached: Set<Int> = [0]
        for segment in tail {
            if case .text(let text) = segment {
                let fitting = reached.filter { wanted[$0...].starts(with: text.utf8) }
                reached = Set(fitting.map { $0 + text.utf8.count })
            } else if let first = reached.min() {
                reached = Set(first...wanted.count)
            }
        }
        return reached.contains(wanted.count)
    }

    /// Whether the last component can be empty, so that the result is the folder above it.
    package var lastCanBeEmpty: Bool {
        var canBeEmpty = false
        var begins = true
        for segment in tail {
            switch segment {
            case .text(let text):
                let last = text.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
                if last.isEmpty { begins = true } else { (begins, canBeEmpty) = (false, false) }
            case .placeholder(let placeholder):
                let mayBeNothing = placeholder == .ext || placeholder == .path
                canBeEmpty = mayBeNothing && (begins || canBeEmpty)
                begins = false
            }
        }
        return canBeEmpty
    }
}

extension Template.Segment {
    fileprivate var isPlaceholder: Bool {
        if case .placeholder = self { true } else { false }
    }
}
