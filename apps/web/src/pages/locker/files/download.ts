// Downloads to disk. Saved files are checked completely against the recorded hash if the browser lets pages write files.
// Otherwise, the browser itself downloads very large files from a short-lived address of the gateway.

import type { FileEntry } from '@svc/api/file-entries'
import { fileUrls } from '@svc/api/files'
import { type Client, type Download, ENCRYPTED_ENDING, plainName } from '@svc/sdk'
import { urlOf } from '../../../address.ts'
import { nameOf } from '../../../ui/locker-name.ts'
import { saveFile } from '../../../ui/save-file.ts'
import type { LockerSession } from '../session.ts'
import { hasOpeningKey, openDownload } from './encryption.ts'
import { ZIP_BYTES, ZIP_FILES, zipStream } from './zip.ts'

/** Larger files are not collected in memory. */
const IN_MEMORY_BYTES = 256 * 1024 * 1024

export type DownloadOutcome = 'saved' | 'decrypted' | 'by-browser' | 'cancelled'

export class TooLargeHere extends Error {
  override name = 'TooLargeHere'
}

interface SavePicker {
  showSaveFilePicker(options: { suggestedName: string }): Promise<FileSystemFileHandle>
}

export interface DownloadOptions {
  signal: AbortSignal
  onProgress: (done: number, total: number | null) => void
}

export async function downloadFile(
  { client, locker }: LockerSession,
  { filename, size_bytes }: FileEntry,
  { signal, onProgress }: DownloadOptions,
): Promise<DownloadOutcome> {
  const isLarge = (size_bytes ?? 0) > IN_MEMORY_BYTES
  const name = basename(filename)
  const isOpening = hasOpeningKey(locker.locker_id)
  const picker = globalThis as Partial<SavePicker>
  // Ask for the location first: the browser allows that only after a click.
  if (isLarge && picker.showSaveFilePicker) {
    const place = await picker
      .showSaveFilePicker({ suggestedName: isOpening ? plainName(name) : name })
      .catch(() => null)
    if (!place) return 'cancelled'
    const { download, isDecrypted } = await open()
    // An error aborts the writer, so nothing is saved.
    await download.stream.pipeTo(await place.createWritable(), { signal })
    return isDecrypted ? 'decrypted' : 'saved'
  }
  if (isLarge && isOpening && name.endsWith(ENCRYPTED_ENDING)) throw new TooLargeHere()
  if (isLarge) {
    follow(await shortUrl(client, locker.locker_id, filename), name)
    return 'by-browser'
  }
  const { download, isDecrypted } = await open()
  const bytes = await download.bytes()
  const address = URL.createObjectURL(new Blob([bytes as BlobPart], { type: 'application/octet-stream' }))
  follow(address, isDecrypted ? plainName(name) : name)
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
  return isDecrypted ? 'decrypted' : 'saved'

  async function open(): Promise<{ download: Download; isDecrypted: boolean }> {
    const download = await client.get(locker, filename, { signal, onProgress })
    return isOpening ? openDownload(locker.locker_id, download) : { download, isDecrypted: false }
  }
}

/** Downloads files as one archive, with their names below `folder`. Nothing is saved after an error. */
export async function downloadZip(
  session: LockerSession,
  files: readonly FileEntry[],
  folder: string,
  { signal, onProgress }: DownloadOptions,
): Promise<DownloadOutcome> {
  const { client, locker, facts } = session
  const total = files.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0)
  if (files.length > ZIP_FILES || total > ZIP_BYTES) throw new TooMuchForZip()
  const name = `${basename(folder.replace(/\/$/, '')) || nameOf(facts.value) || locker.locker_id}.zip`
  const picker = globalThis as Partial<SavePicker>
  const isLarge = total > IN_MEMORY_BYTES
  if (isLarge && !picker.showSaveFilePicker) throw new TooMuchForZip()
  const place = isLarge ? await picker.showSaveFilePicker?.({ suggestedName: name }).catch(() => null) : null
  if (isLarge && !place) return 'cancelled'
  const isOpening = hasOpeningKey(locker.locker_id)
  let before = 0
  const archive = zipStream(
    files.map(({ filename, size_bytes, uploaded_at }) => ({
      changedAt: new Date(uploaded_at ?? 0),
      async open() {
        const start = before
        before += size_bytes ?? 0
        const got = await client.get(locker, filename, {
          signal,
          onProgress: (done) => onProgress(start + done, total),
        })
        const opened = isOpening ? await openDownload(locker.locker_id, got) : { download: got, isDecrypted: false }
        const path = filename.slice(folder.length)
        return { name: opened.isDecrypted ? plainName(path) : path, stream: opened.download.stream }
      },
    })),
  )
  if (place) await archive.pipeTo(await place.createWritable(), { signal })
  else saveFile(name, await new Response(archive).blob())
  return 'saved'
}

/** Too many files, or too many bytes, for one archive in this browser. */
export class TooMuchForZip extends Error {
  override name = 'TooMuchForZip'
}

function follow(address: string, name: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}

/** A short URL on this page's own host: only the token of the gateway's address is used. */
async function shortUrl(client: Client, locker_id: string, filename: string): Promise<string> {
  const { body } = await client.call(fileUrls, { params: { locker_id }, body: { filenames: [filename], ttl_min: 30 } })
  const token = /\/f\/([A-Za-z0-9_.~-]+)$/.exec(body.urls[0]?.download_url ?? '')?.[1]
  if (!token) throw new NoBytes()
  return urlOf(`/f/${token}`)
}

export class NoBytes extends Error {
  override name = 'NoBytes'
}

function basename(filename: string): string {
  return filename.slice(filename.lastIndexOf('/') + 1)
}
