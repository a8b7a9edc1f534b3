// What is called of libpq, which is loaded where it is needed and not linked: a list, a place for the address of each,
// and their names in the same order.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#define DM_PQ_CALLS(CALL) CALL(PQclear) CALL(PQconnectdbParams) CALL(PQconnectPoll) CALL(PQconnectStartParams) \
    CALL(PQconnectionNeedsPassword) CALL(PQconninfo) CALL(PQconninfoFree) CALL(PQconninfoParse) CALL(PQconsumeInput) CALL(PQenterPipelineMode) CALL(PQerrorMessage) CALL(PQexitPipelineMode) CALL(PQfinish) \
    CALL(PQflush) CALL(PQfreemem) CALL(PQgetResult) CALL(PQgetisnull) CALL(PQgetlength) CALL(PQgetvalue) \
    CALL(PQbackendPID) CALL(PQisBusy) CALL(PQlibVersion) CALL(PQnfields) CALL(PQnotifies) CALL(PQntuples) CALL(PQpipelineSync) CALL(PQresultErrorField) \
    CALL(PQresultStatus) CALL(PQsendQueryParams) CALL(PQserverVersion) CALL(PQsetErrorVerbosity) CALL(PQsetNoticeProcessor) \
    CALL(PQsetnonblocking) CALL(PQsocket) CALL(PQstatus)

#define DM_PLACE(call) __typeof__(call) *call;
#define DM_NAME(call) #call,

struct dm_pq_calls {
    DM_PQ_CALLS(DM_PLACE)
};

static inline const char *const *dm_pq_names(void) {
    static const char *const names[] = {DM_PQ_CALLS(DM_NAME)};
    return names;
}

// What an error is, and what the server says of it (PG_DIAG_SQLSTATE is a character, which Swift does not take).
static const int dm_pq_state = PG_DIAG_SQLSTATE, dm_pq_message = PG_DIAG_MESSAGE_PRIMARY;

// Notices of the server are not for our standard error.
static inline void dm_pq_ignore(void *context, const char *notice) {
    (void)context;
    (void)notice;
}
