// Files in lists and URL sets.

import Type, { type Static } from 'typebox'
import { OrNull, Timestamp, Words } from './wire.ts'

/** The operation checks the rules of a name, so that its error can name the rule. */
export const Filename = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'At most 512 bytes; may contain folders.',
})

export const TtlMinutes = Type.Integer({
  minimum: 1,
  maximum: 1440,
  default: 30,
  description: 'How many minutes the URLs remain valid.',
})

export const ContentType = Type.String({
  maxLength: 255,
  default: 'application/octet-stream',
  description: 'Fixed: the upload must have this type.',
})

export const ContentHash = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })

const EntryFields = {
  filename: Type.String(),
  size_bytes: OrNull(Type.Integer({ minimum: 0 })),
  content_hash: OrNull(ContentHash),
  content_type: Type.String(),
  uploaded_at: OrNull(Timestamp()),
  hash_recorded_at: OrNull(Timestamp()),
  status: Words(['confirmed', 'awaiting_bytes']),
}

const ProviderRef = Type.String({ description: 'A transaction id (arweave) or content id (filecoin).' })

export const FileEntry = Type.Object(
  { ...EntryFields, provider_ref: Type.Optional(ProviderRef) },
  { title: 'FileEntry' },
)
export type FileEntry = Static<typeof FileEntry>

export const ManifestEntry = Type.Object(
  {
    ...EntryFields,
    provider: Type.String(),
    provider_ref: OrNull(ProviderRef),
  },
  { title: 'ManifestEntry' },
)
export type ManifestEntry = Static<typeof ManifestEntry>

/** The URLs for one file's bytes. */
export const UrlPair = {
  filename: Type.String(),
  content_type: Type.String(),
  upload_url: Type.String(),
  upload_headers: Type.Record(Type.String(), Type.String(), { description: 'Send exactly these headers.' }),
  download_url: Type.String(),
  delete_url: Type.Optional(Type.String({ description: 'Present only if the request was signed for `locker:write`.' })),
}

export const UrlsExpire = Type.Integer({ description: 'Seconds.' })

export const UrlSet = Type.Object(
  { locker_id: Type.String(), ...UrlPair, urls_expire_in_sec: UrlsExpire },
  { title: 'UrlSet' },
)
export type UrlSet = Static<typeof UrlSet>

const WHILE_CURRENT = "Absent while the gateway's database is behind, because nothing is written then."

/** New URLs for a file that exists. */
export const FreshUrls = Type.Object(
  {
    ...UrlSet.properties,
    upload_url: Type.Optional(Type.String({ description: WHILE_CURRENT })),
    upload_headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: `Send exactly these headers. ${WHILE_CURRENT}` }),
    ),
  },
  { title: 'FreshUrls' },
)
export type FreshUrls = Static<typeof FreshUrls>

export const DownloadUrls = Type.Object(
  {
    locker_id: Type.String(),
    urls: Type.Array(
      Type.Object({
        filename: Type.String(),
        download_url: Type.String(),
        content_type: Type.String(),
        content_hash: OrNull(ContentHash),
        size_bytes: OrNull(Type.Integer()),
        uploaded_at: Type.Optional(OrNull(Timestamp())),
        provider_ref: Type.Optional(OrNull(ProviderRef)),
      }),
    ),
    found: Type.Integer(),
    not_found: Type.Array(Type.String(), { description: 'Requested files that do not exist or have no bytes yet.' }),
    urls_expire_in_sec: UrlsExpire,
    next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins. Absent on the last page.' })),
  },
  { title: 'DownloadUrls' },
)
export type DownloadUrls = Static<typeof DownloadUrls>
