// Opens an evidence bundle by receipt, file path or URL.

import { evidenceBundle, redactedBundle } from '@svc/api/proofs'
import { chunksOf } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import { fileSource } from '@svc/sdk/node'
import type { Chunks } from '@svc/verifier/read-bundle'
import type { Context } from '../context.ts'
import { Refusal } from '../errors.ts'
import { readPublic } from './read-public.ts'

export interface BundleOrigin {
  receipt_id?: string
  sequence?: number
  path?: string
  url?: string
}

interface OpenBundle {
  chunks: Chunks
  close(): Promise<void>
}

/** Null if the receipt has no statement yet. */
export async function openBundle(
  context: Context,
  origin: BundleOrigin,
  signal: AbortSignal,
): Promise<OpenBundle | null> {
  const { receipt_id, sequence, path, url } = origin
  if (receipt_id !== undefined) return ofReceipt(context, receipt_id, sequence, signal)
  if (path !== undefined) return ofFile(context, path)
  return ofAddress(context, url ?? '', signal)
}

const nothingToClose = async () => {}

async function ofReceipt({ client }: Context, receipt_id: string, sequence: number | undefined, signal: AbortSignal) {
  try {
    const query = { receipt_id, ...(sequence !== undefined && { sequence }) }
    const { body } = await client.open(evidenceBundle, { query, signal })
    return { chunks: body ? chunksOf(body) : [], close: nothingToClose }
  } catch (error) {
    if (isGatewayError(error, 'attestation_not_available')) return null
    throw error
  }
}

async function ofFile({ root }: Context, path: string): Promise<OpenBundle> {
  const file = await root.open(path)
  return { chunks: (await fileSource(file)).open(), close: () => file.close() }
}

async function ofAddress({ settings, client }: Context, text: string, signal: AbortSignal): Promise<OpenBundle> {
  const url = URL.parse(text)
  if (!url) throw new Refusal('bad_url', 'url is not an address')
  const address = `${url.origin}${url.pathname}`
  const endpoint = [evidenceBundle, redactedBundle].find(({ path }) => address === settings.gateway + path)
  if (!endpoint) return { chunks: await readPublic(text, signal), close: nothingToClose }
  // The configured gateway may have a private address.
  const { body } = await client.open(endpoint, { query: queryOf(url), signal })
  return { chunks: body ? chunksOf(body) : [], close: nothingToClose }
}

/** The query that the endpoints declare; the gateway rejects other parameters. */
function queryOf({ searchParams }: URL): { receipt_id: string; filename?: string[] } {
  const filename = searchParams.getAll('filename')
  const query = Object.fromEntries(searchParams) as { receipt_id: string }
  return { ...query, ...(filename.length > 0 && { filename }) }
}
