// What any server of signed requests must do, on node:http, node:crypto and node:sqlite alone: decode the envelope, find
// the owner, verify the signature, use up the nonce durably, do the work, answer. Requests that arrive together share a
// commit. It checks nothing else and trusts its input.

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fromBase58 } from '@svc/protocol/bytes'
import { lockerId } from '@svc/protocol/ids'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { nameOf } from '../growth.ts'
import { reportTo } from '../server-process.ts'
import { ownerIdentity, ownerSeed } from '../signed-requests.ts'

const { LOCKERS = '1', FILES = '0' } = process.env
const PAGE = 100
const TOKEN_BYTES = 120
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const folder = await mkdtemp(join(tmpdir(), 'svc-bare-'))
const database = new DatabaseSync(join(folder, 'bare.db'))
database.exec(`
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table lockers (locker_id text primary key, owner text not null, record text not null);
  create table nonces (signer text, nonce text, forget_at integer, primary key (signer, nonce));
  create table files (locker_id text, filename text, entry text not null, primary key (locker_id, filename));
`)
const insertLocker = database.prepare('insert into lockers values (?, ?, ?)')
const findLocker = database.prepare('select owner, record from lockers where locker_id = ?')
const useNonce = database.prepare('insert into nonces values (?, ?, ?)')
const insertFile = database.prepare('insert into files values (?, ?, ?)')
const findFile = database.prepare('select entry from files where locker_id = ? and filename = ?')
const listFiles = database.prepare(
  'select entry from files where locker_id = ? and filename > ? order by filename limit ?',
)

const lockers = Array.from({ length: Number(LOCKERS) }, (_, i) => {
  const receipt_id = `rcpt_bare_${i}`
  const locker_id = lockerId(receipt_id)
  insertLocker.run(locker_id, ownerIdentity(i, 'ed25519'), JSON.stringify({ tags: [], ...entryOf('') }))
  return { locker_id, receipt_id }
})
database.exec('begin')
for (let i = 0; i < Number(FILES); i++) insertFile.run(lockers[0]?.locker_id ?? '', nameOf(i), fileText(nameOf(i)))
database.exec('commit')

function entryOf(filename: string) {
  const content_hash = `sha256:${'ab'.repeat(32)}`
  const uploaded_at = '2026-01-01T00:00:00Z'
  return { filename, size_bytes: 100, content_hash, content_type: 'text/plain', uploaded_at, provider: 'gcs' }
}

function fileText(filename: string): string {
  return JSON.stringify(entryOf(filename))
}

interface Verified {
  envelope: RequestEnvelope
  owner: string
  record: string
  body: string
  target: string
  response: ServerResponse
}

const keys = new Map<string, KeyObject>()
const signingKey = createPrivateKey({ key: Buffer.concat([PKCS8, ownerSeed(0)]), format: 'der', type: 'pkcs8' })
let verified: Verified[] = []

const server = createServer(({ headers, url = '' }, response) => {
  let body = ''
  const request = response.req.setEncoding('utf8')
  request.on('data', (text) => {
    body += text
  })
  request.on('end', () => {
    const bytes = Buffer.from(headers['x-svc-envelope'] as string, 'base64url')
    const envelope: RequestEnvelope = JSON.parse(bytes.toString())
    const { owner, record } = findLocker.get(envelope.locker_id) as { owner: string; record: string }
    const signature = fromBase58(headers['x-svc-signature'] as string, 64)
    if (!signature || !verify(null, bytes, keyOf(owner), signature)) throw new Error('the signature is invalid')
    verified.push({ envelope, owner, record, body, target: url, response })
    if (verified.length === 1) setImmediate(answerAll)
  })
})

function keyOf(owner: string): KeyObject {
  const known = keys.get(owner)
  if (known) return known
  const x = Buffer.from(fromBase58(owner, 32) as Uint8Array).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  keys.set(owner, key)
  return key
}

function answerAll(): void {
  const together = verified
  verified = []
  database.exec('begin immediate')
  for (const { envelope, owner } of together) useNonce.run(owner, envelope.nonce, envelope.exp)
  database.exec('commit')
  const creations = together.filter(isCreation)
  if (creations.length > 0) {
    database.exec('begin immediate')
    for (const { envelope, body } of creations) {
      const { filename } = JSON.parse(body)
      insertFile.run(envelope.locker_id, filename, fileText(filename))
    }
    database.exec('commit')
  }
  for (const call of together) {
    const text = JSON.stringify(answerOf(call))
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    call.response.writeHead(200, headers).end(text)
  }
}

function isCreation({ envelope, target }: Verified): boolean {
  return envelope.method === 'POST' && target.endsWith('/files')
}

function answerOf(call: Verified): unknown {
  const { envelope, target, body, record } = call
  const { locker_id } = envelope
  if (isCreation(call)) return { ...entryOf(JSON.parse(body).filename), urls: [token(), token(), token()] }
  if (target.endsWith('/urls')) {
    const { filenames } = JSON.parse(body) as { filenames: string[] }
    return filenames.map((filename) => ({ ...parsed(findFile.get(locker_id, filename)), url: token() }))
  }
  if (target.includes('/files?')) {
    const after = Buffer.from(/cursor=([^&]*)/.exec(target)?.[1] ?? '', 'base64url').toString()
    return { files: listFiles.all(locker_id, after, PAGE).map(parsed) }
  }
  return { locker_id, ...JSON.parse(record) }
}

function parsed(row: Record<string, unknown> | undefined): object {
  return JSON.parse(row?.entry as string)
}

function token(): string {
  const payload = Buffer.alloc(TOKEN_BYTES, 1)
  return Buffer.concat([payload, sign(null, payload, signingKey)]).toString('base64url')
}

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const facts = Number(FILES) > 0 ? { locker: lockers[0], smallReceipts: [] } : lockers
reportTo(process, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop, facts)

async function stop(): Promise<void> {
  server.close()
  database.close()
  await rm(folder, { recursive: true })
}
