import Platform

/// The time zone of this host, by which people read its clocks. Read once in a process, as the C library does.
package enum HostZone {
    /// What it is called: by the time zone database where that is known, else as clocks abbreviate it.
    package static let name = name(
        variable: getenv("TZ").map { String(cString: $0) }, link: target(ofLink: "/etc/localtime"),
        abbreviation: Timestamp.now().formatted("%Z"))

    /// `variable`: the environment's TZ; `link`: where /etc/localtime leads to.
    package static func name(variable: String?, link: String?, abbreviation: String) -> String {
        if let variable {
            let zone = variable.drop { $0 == ":" }
            if zone.isEmpty { return "UTC" }
            return nameInDatabase(String(zone)) ?? (zone.hasPrefix("/") ? abbreviation : String(zone))
        }
        return link.flatMap(nameInDatabase) ?? abbreviation
    }

    /// Seconds east of UTC at a time, given in seconds since 1970.
    package static func offset(at seconds: Int64) -> Int {
        var (time, parts) = (time_t(seconds), tm())
        return localtime_r(&time, &parts) == nil ? 0 : Int(parts.tm_gmtoff)
    }

    /// `Europe/Berlin` of `/usr/share/zoneinfo/Europe/Berlin`.
    private static func nameInDatabase(_ path: String) -> String? {
        guard let folder = path.firstRange(of: "zoneinfo/") else { return nil }
        let name = path[folder.upperBound...]
        return name.isEmpty ? nil : String(name)
    }

    private static func target(ofLink path: String) -> String? {
        var target = [CChar](repeating: 0, count: 1024)
        let count = readlink(path, &target, target.count)
        return count > 0 ? String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}

extension HostDay {
    /// The day of a time in the zone of this host.
    package init(of time: Timestamp) { self.init(of: time, offset: HostZone.offset(at:)) }
}
