// A small gateway with a log, over real HTTP. It is honest until a test changes it.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fromHex, toHex } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { type EvidenceEnvelope, isoSeconds, issueStatement, type Statement } from '@svc/protocol/evidence'
import { namedKey } from '@svc/protocol/key-changes'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import { DEFAULT_DOMAIN_TAG, SIGNING_KEYS_SCHEMA } from '@svc/protocol/names'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { EMPTY_FRONTIER, grow, rootOf } from '@svc/protocol/transparency/frontier'
import { formatKey } from '@svc/protocol/transparency/note'
import { entryBundle, readTilePath, TILE_WIDTH, tilePath } from '@svc/protocol/transparency/tiles'
import { leafHash } from '@svc/protocol/transparency/tree'

export const SIGNER = ed25519Signer(new Uint8Array(32).fill(7))
export const NOW = 1_800_000_000

export interface TestEntry {
  digest: string
  envelope: EvidenceEnvelope | null
  anchor: Json
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export async function startTestGateway(origin: string) {
  const { key, sign } = testKey(origin, 'log')
  const entries: TestEntry[] = []
  const tiles = new Map<string, Uint8Array>()
  /** Replaces the honest response, by the beginning of the path. */
  const instead = new Map<string, Answer>()
  const gateway = {
    origin,
    key,
    entries,
    instead,
    checkpoint: '',
    /** Additional fields of its key list. */
    endorsements: [] as Json[],
    revocations: [] as Json[],
    /** The anchors of checkpoints. */
    anchors: [] as Json[],
    requests: [] as string[],
    url: '',
    /** A line of a policy. */
    line: '',

    /** Adds the next statement of a chain, or a given one. */
    attest(proof: number, change: Partial<Statement> = {}, signer: Ed25519Signer | null = SIGNER): TestEntry {
      const proofId = proof.toString(16).padStart(32, '0')
      const before = entries.findLast(({ envelope }) => envelope?.body.proof_id === proofId)?.envelope
      const statement: Statement = {
        proofId,
        sequence: (before?.body.sequence ?? 0) + 1,
        previousDigest: before?.statement_digest ?? null,
        merkleRoot: 'ab'.repeat(32),
        fileCount: 1,
        manifestFileCount: 1,
        totalBytes: 5n,
        manifestDigest: `sha256:${'cd'.repeat(32)}`,
        checkMode: 'bytes_hashed',
        issuedAtUnix: NOW,
        nonce: entries.length.toString(16).padStart(32, '0'),
        ...change,
      }
      return gateway.add(issueStatement(statement, signer, DEFAULT_DOMAIN_TAG))
    },

    add(envelope: EvidenceEnvelope): TestEntry {
      const entry: TestEntry = { digest: envelope.statement_digest, envelope, anchor: null }
      entries.push(entry)
      return entry
    },

    /** Signs the tree of all entries, including changed ones. */
    async publish(): Promise<string> {
      const leaves = entries.map(({ digest }) => leafHash(bytesOf(digest)))
      const grown = grow(EMPTY_FRONTIER, leaves)
      for (const tile of grown.tiles) tiles.set(tilePath(tile), tile.bytes)
      const head = { size: entries.length, root: rootOf(grown.frontier) }
      gateway.checkpoint = await signCheckpoint(key, head, sign)
      return toHex(head.root)
    },

    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  const server = createServer((request, response) => {
    const path = request.url!
    gateway.requests.push(path)
    const other = [...instead].find(([start]) => path.startsWith(start))?.[1]
    if (other) return other(request, response)
    const answer = answerTo(new URL(path, 'http://gateway'))
    response.statusCode = answer === null ? 404 : 200
    response.end(answer ?? '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  gateway.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  gateway.line = `log ${formatKey(key)} ${gateway.url}/log`
  return gateway

  function answerTo({ pathname, searchParams }: URL): string | Uint8Array | null {
    if (pathname === '/log/checkpoint') return gateway.checkpoint || null
    if (pathname === '/v1/log') return JSON.stringify({ origin, size: gateway.checkpoint ? entries.length : 0 })
    if (pathname === '/v1/log/anchors') return JSON.stringify({ anchors: gateway.anchors })
    if (pathname === '/.well-known/svc.json') return JSON.stringify({ evidence: { domain_tag: DEFAULT_DOMAIN_TAG } })
    if (pathname === '/v1/keys') return JSON.stringify(keyList())
    if (pathname === '/v1/log/statements')
      return statements(Number(searchParams.get('from')), Number(searchParams.get('limit')))
    return tileAt(pathname.replace('/log/', ''))
  }

  function statements(from: number, limit: number): string {
    const shown = entries.map(({ digest, envelope, anchor }, index) => {
      return { index, statement_digest: digest, envelope, anchor }
    })
    return JSON.stringify({ size: entries.length, entries: shown.slice(from, from + limit), next: null })
  }

  function keyList(): Json {
    const key = { ...namedKey(toHex(SIGNER.publicKey)), alg: 'ed25519', use: 'evidence-envelope', status: 'active' }
    const keys = [{ ...key, valid_from: isoSeconds(NOW - 1_000_000), valid_to: null }]
    const { endorsements, revocations } = gateway
    return { schema: SIGNING_KEYS_SCHEMA, keys, endorsements, revocations }
  }

  function tileAt(path: string): Uint8Array | null {
    const place = readTilePath(path)
    if (place?.level !== 'entries') return tiles.get(path) ?? null
    const first = place.index * TILE_WIDTH
    return entryBundle(entries.slice(first, first + place.width).map(({ digest }) => bytesOf(digest)))
  }
}

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>

function bytesOf(hex: string): Uint8Array {
  return fromHex(hex, hex.length / 2)!
}
