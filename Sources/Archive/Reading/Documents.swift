/// Files that happen to be archives but that their users know as one thing: they pass as they are.
package enum Documents {
    /// Name endings, in lower case.
    static let endings: Set<String> = [
        // Office documents.
        "docx", "docm", "dotx", "dotm", "xlsx", "xlsm", "xlsb", "xltx", "xltm", "pptx", "pptm", "potx", "potm", "ppsx",
        "vsdx",
        "odt", "ods", "odp", "odg", "odf", "odb", "ott", "ots", "otp", "otg", "pages", "numbers", "key",
        // To read, to print, to draw, to build.
        "epub", "cbz", "cbr", "cb7", "cbt", "xps", "oxps", "idml", "kra", "ora", "sketch", "svgz", "3mf", "fcstd",
        "usdz", "kmz",
        // Programs and their libraries.
        "jar", "war", "ear", "aar", "apk", "aab", "ipa", "whl", "egg", "xpi", "nupkg", "snupkg", "vsix", "gem", "crate",
        "appx", "msix", "a", "lib",
        // Packages of systems.
        "deb", "udeb", "ipk", "rpm", "pkg", "xbps",
        // Data that its own programs open.
        "npz", "keras", "qgz", "mscz", "ova",
    ]

    /// What the first entry of a document is called.
    private static let firstNames: [ArchiveFormat: [String]] = [
        // OpenDocument and EPUB; Office Open XML; Java.
        .container(.zip): ["mimetype", "[Content_Types].xml", "META-INF/", "META-INF/MANIFEST.MF"],
        // Debian packages.
        .container(.ar): ["debian-binary"],
    ]

    /// Whether an archive of that name (the last component counts) is a document. One that its sender calls `.zip` is
    /// not, whatever it begins with.
    package static func contains(_ name: [UInt8], _ sniff: ArchiveSniff) -> Bool {
        let last = name.split(separator: UInt8(ascii: "/")).last ?? []
        let dot = last.lastIndex(of: UInt8(ascii: "."))
        let ending = dot.map { String(decoding: last[($0 + 1)...], as: UTF8.self).lowercased() } ?? ""
        if endings.contains(ending) || sniff.format == .container(.rpm) { return true }
        guard ending != "zip", let format = sniff.format, let first = sniff.firstName else { return false }
        return firstNames[format]?.contains { first.elementsEqual($0.utf8) } ?? false
    }
}
