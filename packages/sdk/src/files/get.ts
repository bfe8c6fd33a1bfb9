import type { DownloadUrls } from '@svc/api/file-entries'
import { fileUrls, getFile } from '@svc/api/files'
import { readByToken, readPublicly } from '@svc/api/transfers'
import { inParallel } from '@svc/concurrency/parallel'
import { call, open } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import type { Locker } from '../lockers.ts'
import { type Download, download, type Opened, type ReadOptions } from './download.ts'
import { requireName } from './filename.ts'
import { tokenOf } from './short-urls.ts'

/** Reads a file through a short URL, which is renewed when it expires. */
export async function get(
  context: Context,
  locker: Locker,
  filename: string,
  options: ReadOptions = {},
): Promise<Download> {
  requireName(filename)
  return download(context, filename, await openFile(context, locker, filename, options.signal), options)
}

type FileUrl = DownloadUrls['urls'][number]

async function openFile(
  context: Context,
  locker: Locker,
  filename: string,
  signal: AbortSignal | undefined,
): Promise<Opened> {
  const { locker_id } = locker
  const find = async () => (await mint(context, locker, [filename], signal)).urls[0]
  const first = await find()
  if (first) return openUrl(context, locker, first, signal)
  // This call throws the gateway's reason for the missing URL, unless the bytes have arrived meanwhile.
  await call(context, getFile, { params: { locker_id, filename }, signal })
  const second = await find()
  if (second) return openUrl(context, locker, second, signal)
  throw new UntrueAnswer(`the gateway reports that ${JSON.stringify(filename)} exists, but returns no URL for it`)
}

async function mint(context: Context, { locker_id }: Locker, filenames: string[], signal: AbortSignal | undefined) {
  return (await call(context, fileUrls, { params: { locker_id }, body: { filenames }, signal })).body
}

function openUrl(context: Context, locker: Locker, url: FileUrl, signal: AbortSignal | undefined): Opened {
  const params = { token: tokenOf(url.download_url) }
  return {
    expectedHash: url.content_hash,
    read: (headers) => open(context, readByToken, { params, headers, signal }),
    reopen: () => openFile(context, locker, url.filename, signal),
  }
}

/** Reads a file without a key, by its receipt id, or by the link id if the owner has rotated the public link. */
export async function getPublicly(
  context: Context,
  id: string,
  filename: string,
  options: ReadOptions = {},
): Promise<Download> {
  requireName(filename)
  const { signal } = options
  const opened: Opened = {
    expectedHash: null,
    read: (headers) => open(context, readPublicly, { params: { receipt_id: id, filename }, headers, signal }),
    reopen: async () => opened,
  }
  return download(context, filename, opened, options)
}

export type GetOutcome = { filename: string; error?: unknown }

const URLS_AT_ONCE = 1000

/** Reads many files in parallel and passes each to `receive`. Each name has one outcome, even if the gateway lies. */
export async function getMany(
  context: Context,
  locker: Locker,
  filenames: readonly string[],
  receive: (download: Download) => Promise<void>,
  { atOnce = 4, signal }: { atOnce?: number; signal?: AbortSignal } = {},
): Promise<GetOutcome[]> {
  const outcomes: GetOutcome[] = []
  const names = [...new Set(filenames)]
  for (let start = 0; start < names.length; start += URLS_AT_ONCE) {
    const asked = names.slice(start, start + URLS_AT_ONCE)
    const answer = await mint(context, locker, asked, signal)
    const { wanted, failed } = matchAnswer(asked, answer)
    outcomes.push(...failed)
    await inParallel(wanted, atOnce, async (url) => {
      signal?.throwIfAborted()
      const { filename } = url
      const opened = openUrl(context, locker, url, signal)
      const received = download(context, filename, opened, { signal }).then(receive)
      outcomes.push(
        await received.then(
          () => ({ filename }),
          (error: unknown) => ({ filename, error }),
        ),
      )
    })
  }
  return outcomes
}

/** Checks the answer: a gateway may omit names, repeat them, or add others. */
function matchAnswer(asked: readonly string[], { urls, not_found }: DownloadUrls) {
  const open = new Set(asked)
  const wanted: FileUrl[] = []
  const failed: GetOutcome[] = []
  const refuse = (filename: string, why: string) =>
    failed.push({ filename, error: new UntrueAnswer(`${JSON.stringify(filename)}: ${why}`) })
  for (const url of urls) {
    if (open.delete(url.filename)) wanted.push(url)
    else refuse(url.filename, 'the gateway returned it without being asked')
  }
  for (const filename of not_found)
    if (open.delete(filename))
      failed.push({ filename, error: new Error(`${filename}: no such file, or its bytes have not arrived yet`) })
  for (const filename of open) refuse(filename, 'the answer of the gateway does not mention it')
  return { wanted, failed }
}
