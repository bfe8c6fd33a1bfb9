// How the rooms are wired: each is made from the tools, and from what it needs of the rooms made before it.

import type { Service } from '@svc/http-service/service'
import { isoSeconds } from '@svc/protocol/evidence'
import { createHttp, type HttpContext } from './adapters/http/room.ts'
import { httpRoutes } from './adapters/http/routes.ts'
import { credentialRoutes } from './adapters/s3/credentials/routes.ts'
import { createS3, type S3Context } from './adapters/s3/room.ts'
import { s3Routes } from './adapters/s3/routes.ts'
import { createTus, type TusContext } from './adapters/tus/room.ts'
import { tusRoutes } from './adapters/tus/routes.ts'
import { nextLogAnchor } from './anchors/log/next-log-anchor.ts'
import { logStanding } from './anchors/log/standing.ts'
import { type AnchorsContext, createAnchors } from './anchors/room.ts'
import { anchorRoutes } from './anchors/routes.ts'
import { attestationCounts, attestHealth } from './attestations/health.ts'
import { nextAnchor } from './attestations/next-anchor.ts'
import { type AttestationsContext, createAttestations } from './attestations/room.ts'
import { attestationRoutes } from './attestations/routes.ts'
import { attestationSummary } from './attestations/view.ts'
import { type Auth, createAuth } from './auth/room.ts'
import type { Secrets } from './config.ts'
import { type Context, unixNow } from './context.ts'
import { createEvidence, type EvidenceContext } from './evidence/room.ts'
import { evidenceRoutes } from './evidence/routes.ts'
import { summarizeDeliveries } from './files/delivery/schedule.ts'
import { adoptArrived } from './files/direct-uploads.ts'
import { firstUrls } from './files/lists/download-urls.ts'
import { firstFiles } from './files/lists/list-files.ts'
import { continueSessions } from './files/parts/close-session.ts'
import { createFiles, type FilesContext } from './files/room.ts'
import { fileRoutes } from './files/routes.ts'
import { checkHealth } from './info/health.ts'
import { createInfo, type InfoContext } from './info/room.ts'
import { infoRoutes } from './info/routes.ts'
import { countOverTerms } from './lockers/over-terms.ts'
import { createLockers, type LockersContext } from './lockers/room.ts'
import { lockerRoutes } from './lockers/routes.ts'
import { createLog, type LogContext } from './log/room.ts'
import { logRoutes } from './log/routes.ts'
import { logWarnings } from './log/warnings.ts'
import { createOperations, type OperationsContext } from './operations/room.ts'
import { operationRoutes } from './operations/routes.ts'
import { createPages, type PagesContext, viewerUrl } from './pages/room.ts'
import { pageRoutes } from './pages/routes.ts'
import { createPurchases, type PurchasesContext } from './purchases/context.ts'
import { purchaseRoutes } from './purchases/routes.ts'

export interface Rooms {
  auth: Auth
  info: InfoContext
  pages: PagesContext
  purchases: PurchasesContext
  lockers: LockersContext
  files: FilesContext
  http: HttpContext
  s3: S3Context
  tus: TusContext
  attestations: AttestationsContext
  anchors: AnchorsContext
  log: LogContext
  evidence: EvidenceContext
  operations: OperationsContext
}

export async function createRooms(context: Context, secrets: Secrets): Promise<Rooms> {
  const auth = await createAuth(context, secrets)
  const anchors = createAnchors(context, secrets)
  const log = await createLog(context, secrets)
  const info = createInfo(context, {
    publisher: anchors.publisher,
    countAttestations: () => attestationCounts(context),
    logs: log.transparencyLog.listed,
    logWarnings: () => logWarnings(log),
    countOverTerms: () => countOverTerms(context.database.db, isoSeconds(unixNow(context))),
    logStanding: () => logStanding(anchors, log),
  })
  const attestations = createAttestations(
    context,
    { ...anchors, publishingCosts: info.publishingCosts },
    secrets.databaseUrl,
  )
  const files = createFiles(context, { manifestChanged: attestations.manifestChanged })
  const pages = createPages(context)
  const http = createHttp(files, { viewerUrl: (linkId, filename) => viewerUrl(pages, linkId, filename) })
  const s3 = createS3(http)
  const lockers = createLockers(context, {
    listFiles: (locker) => firstFiles(context, locker),
    mintUrls: (caller, ttl_min) => firstUrls(files, caller, ttl_min),
    adoptArrived: (locker, mintedBy) => adoptArrived(files, locker, mintedBy),
    summarizeAttestation: ({ receipt_id }) => attestationSummary(context.database.db, receipt_id),
    summarizeDeliveries: (locker) => summarizeDeliveries(context, locker),
    nextAnchor: (locker) =>
      nextAnchor(
        { ...context, publisher: anchors.publisher, nextLogAnchor: (statement) => nextLogAnchor(anchors, statement) },
        locker,
      ),
    saveEgress: http.egress.save,
  })
  const purchases = await createPurchases(context, { keysAt: info.keysAt }, secrets)
  const evidence = createEvidence(context, {
    keysAt: info.keysAt,
    attest: attestations.attest,
    mayCompute: auth.mayCompute,
    transparencyLog: log.transparencyLog,
  })
  const operations = createOperations(context, {
    checkHealth: async () => (await checkHealth(info)).body,
    attestHealth: () => attestHealth(attestations),
    routeTimes: info.metrics.routeTimes,
    adoptArrived: (locker) => adoptArrived(files, locker, null),
    publications: anchors.publisher,
    queueEntry: anchors.queueEntry,
    logKey: log.identity.key,
    publishedLog: log.published,
    continueSessions: (tx, lockerId, seconds) => continueSessions(http, tx, lockerId, seconds),
    saveEgress: http.egress.save,
  })
  return {
    auth,
    info,
    pages,
    purchases,
    lockers,
    files,
    http,
    s3,
    tus: createTus(http),
    attestations,
    anchors,
    log,
    evidence,
    operations,
  }
}

export function addRoutes(service: Service, rooms: Rooms): void {
  const { auth } = rooms
  infoRoutes(service, auth, rooms.info)
  pageRoutes(service, rooms.pages)
  purchaseRoutes(service, auth, rooms.purchases)
  lockerRoutes(service, auth, rooms.lockers)
  fileRoutes(service, auth, rooms.files)
  httpRoutes(service, auth, rooms.http)
  if (rooms.s3.config.s3.enabled) s3Routes(service, rooms.s3)
  credentialRoutes(service, auth, rooms.s3)
  tusRoutes(service, auth, rooms.tus)
  attestationRoutes(service, auth, rooms.attestations)
  anchorRoutes(service, auth, rooms.anchors)
  logRoutes(service, rooms.log)
  evidenceRoutes(service, auth, rooms.evidence)
  operationRoutes(service, auth, rooms.operations)
}
