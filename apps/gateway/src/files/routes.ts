import * as confirming from '@svc/api/confirm-files'
import * as files from '@svc/api/files'
import * as lockers from '@svc/api/lockers'
import type { Service } from '@svc/http-service/service'
import { serveLocker, serveReceiptOrAnybody } from '../auth/serve-signed.ts'
import type { Context } from '../context.ts'
import { confirmFile } from './confirm/confirm-file.ts'
import { confirmFiles } from './confirm/confirm-files.ts'
import { createFile } from './create-file.ts'
import { createFiles } from './create-files.ts'
import { deleteFile } from './delete-file.ts'
import { fetchAndStore } from './fetch/fetch-and-store.ts'
import { fileUrls } from './file-urls.ts'
import { getFile } from './get-file.ts'
import { listFiles } from './list-files.ts'
import { lockerUrls } from './locker-urls.ts'
import { readManifest } from './read-manifest.ts'

export function fileRoutes(service: Service, context: Context): void {
  serveLocker(service, context, files.createFile, ({ caller, body }) => createFile(context, caller, body))
  serveLocker(service, context, files.createFiles, ({ caller, body }) => createFiles(context, caller, body))
  serveLocker(service, context, files.listFiles, ({ caller, query }) => listFiles(context, caller.locker, query))
  serveLocker(service, context, files.getFile, ({ caller, params, query }) =>
    getFile(context, caller, params.filename, query.ttl_min),
  )
  serveLocker(service, context, files.deleteFile, ({ caller, params }) =>
    deleteFile(context, caller.locker, params.filename),
  )
  serveLocker(service, context, files.fileUrls, ({ caller, body }) => fileUrls(context, caller, body))
  serveLocker(service, context, files.readManifest, ({ caller, query }) => readManifest(context, caller.locker, query))
  serveLocker(service, context, lockers.lockerUrls, ({ caller, query }) => lockerUrls(context, caller, query))

  serveReceiptOrAnybody(service, context, confirming.confirmFile, (request) => confirmFile(context, request))
  serveReceiptOrAnybody(service, context, confirming.confirmFiles, (request) => confirmFiles(context, request))
  serveLocker(service, context, files.fetchAndStore, ({ caller, body }) => fetchAndStore(context, caller, body))
}
