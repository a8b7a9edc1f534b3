extension Route {
    /// Every route, in the order of the document.
    static let all: [Route] =
        pages + [
            asset, login, logout, session, overview, pipeline, file, hold, resume, holdAll, resumeAll, reload, files,
            waiting, upload, beginFolder, folderFile, folderFolder, finishFolder, cancelFolder,
            bump,
            jobs, job, failed, cancel, release, dismiss, runs, run, preview, startRun, haltRun, changes, events,
            document,
            metrics,
            healthz,
            readyz,
        ]
}
