import * as confirming from '@svc/api/confirm-files'
import * as files from '@svc/api/files'
import * as lockers from '@svc/api/lockers'
import { disconnectSignal } from '@svc/service/http/disconnect-signal'
import type { Service } from '@svc/service/http/service'
import { serveLocker, serveReceiptOrAnybody } from '../auth/serve-signed.ts'
import type { Context } from '../context.ts'
import { confirmFile, confirmFiles } from './confirm/confirm-files.ts'
import { createFile, createFiles } from './create-files.ts'
import { deleteFile } from './delete-file.ts'
import { fetchAndStore } from './fetch-and-store.ts'
import { getFile } from './get-file.ts'
import { fileUrls, lockerUrls } from './lists/download-urls.ts'
import { listFiles } from './lists/list-files.ts'
import { readManifest } from './lists/read-manifest.ts'
import { renameFiles } from './rename-files.ts'

export function fileRoutes(service: Service, context: Context): void {
  const { auth } = context
  serveLocker(service, auth, files.createFile, ({ caller, body }) => createFile(context, caller, body))
  serveLocker(service, auth, files.createFiles, ({ caller, body }) => createFiles(context, caller, body))
  serveLocker(service, auth, files.listFiles, async ({ caller, query, wire }) => {
    using disconnected = disconnectSignal(wire)
    return await listFiles(context, caller.locker, query, disconnected.signal)
  })
  serveLocker(service, auth, files.getFile, ({ caller, params, query }) =>
    getFile(context, caller, params.filename, query.ttl_min),
  )
  serveLocker(service, auth, files.deleteFile, ({ caller, params, query }) =>
    deleteFile(context, caller, params.filename, query),
  )
  serveLocker(service, auth, files.renameFiles, ({ caller, body }) => renameFiles(context, caller, body))
  serveLocker(service, auth, files.fileUrls, ({ caller, body }) => fileUrls(context, caller, body))
  serveLocker(service, auth, files.readManifest, ({ caller, query }) => readManifest(context, caller.locker, query))
  serveLocker(service, auth, lockers.lockerUrls, ({ caller, query }) => lockerUrls(context, caller, query))

  serveReceiptOrAnybody(service, auth, confirming.confirmFile, (request) => confirmFile(context, request))
  serveReceiptOrAnybody(service, auth, confirming.confirmFiles, (request) => confirmFiles(context, request))
  serveLocker(service, auth, files.fetchAndStore, async ({ caller, body, wire }) => {
    using disconnected = disconnectSignal(wire)
    return await fetchAndStore(context, caller, body, disconnected.signal)
  })
}
