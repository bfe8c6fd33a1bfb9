import { GIBIBYTE, secondsOf, sendBytes, textOf } from './bytes.ts'
import { lockerClient } from './locker-client.ts'
import { median, type Row } from './row.ts'
import { scaled, sizeText } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const ROUNDS = scaled(2, 1)
const PART = 8 * 1_048_576
const SIZE = scaled(GIBIBYTE, GIBIBYTE / 4)
const PARTS = SIZE / PART
const AT_ONCE = 4
const TUS = { 'tus-resumable': '1.0.0' }
const TYPE = { 'content-type': 'application/octet-stream' }

interface Session {
  session_id: string
  upload_token: string
  files: [{ file_id: string; parts_url: string }]
}

interface TusToken {
  tus_endpoint: string
  headers: Record<string, string>
}

/** Uploads in parts of 8 MiB. The gateway and the bare server hash and flush the file; tus-node-server does neither. */
export async function sessionRows(): Promise<Row[]> {
  const bare = await startServer('bare-parts')
  const tus = await startServer('tus')
  const gateway = await startServer('lockers', { LOG_LEVEL: 'warn' })
  const uploads = {
    bare: () => uploadToBare(bare),
    tusServer: () => uploadByTus(`${tus.url}/files`, {}),
    inTurn: () => uploadBySession(gateway, 1),
    inParallel: () => uploadBySession(gateway, AT_ONCE),
    byTus: () => uploadToOurTus(gateway),
  }
  const seconds: Record<keyof typeof uploads, number[]> = {
    bare: [],
    tusServer: [],
    inTurn: [],
    inParallel: [],
    byTus: [],
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of Object.keys(uploads) as (keyof typeof uploads)[])
      seconds[name].push(await secondsOf(uploads[name]))
  }
  for (const server of [bare, tus, gateway]) await server.stop()
  const row = (what: string, ours: keyof typeof uploads, theirs: 'bare' | 'tusServer', atLeast: number): Row => ({
    what,
    measured: `${median(seconds[ours]).toFixed(2)} s`,
    against: `${AGAINST[theirs]}: ${median(seconds[theirs]).toFixed(2)} s`,
    ratio: median(seconds[theirs]) / median(seconds[ours]),
    goal: { atLeast },
  })
  const what = `resumable upload, ${sizeText(SIZE)} in parts of 8 MiB, durable and hashed`
  return [
    row(what, 'inTurn', 'bare', 0.9),
    row(`the same with ${AT_ONCE} parts in flight`, 'inParallel', 'bare', 0.9),
    row('the same by tus', 'byTus', 'bare', 0.9),
    row(what, 'inTurn', 'tusServer', 1),
    row('the same by tus', 'byTus', 'tusServer', 1),
  ]
}

const AGAINST = {
  bare: 'bare node:http into a file, hashed, with the same fsync',
  tusServer: 'tus-node-server, neither',
}

async function uploadToBare({ url }: ServerProcess): Promise<void> {
  for (let part = 0; part < PARTS; part++) {
    const last = part === PARTS - 1 ? '&last' : ''
    const target = `${url}/large?offset=${part * PART}${last}`
    await textOf(await sendBytes({ url: target, method: 'POST', headers: TYPE }, PART))
  }
}

async function uploadByTus(endpoint: string, headers: Record<string, string>): Promise<void> {
  const made = await sendBytes(
    { url: endpoint, method: 'POST', headers: { ...TUS, ...headers, 'upload-length': String(SIZE) } },
    0,
  )
  await textOf(made)
  const url = new URL(endpoint).origin + new URL(made.headers.location as string, endpoint).pathname
  for (let part = 0; part < PARTS; part++) {
    const headers = { ...TUS, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(part * PART) }
    await textOf(await sendBytes({ url, method: 'PATCH', headers }, PART))
  }
}

async function uploadToOurTus(gateway: ServerProcess): Promise<void> {
  const { locker, call, remove } = lockerClient(gateway)
  const path = `/v1/lockers/${locker.locker_id}/tus/tokens`
  const token = await call<TusToken>({ method: 'POST', path, ops: ['locker:write'], body: '{}' })
  const filename = Buffer.from('large').toString('base64')
  const endpoint = gateway.url + new URL(token.tus_endpoint).pathname
  await uploadByTus(endpoint, { ...token.headers, 'upload-metadata': `filename ${filename}` })
  await remove('large')
}

async function uploadBySession(gateway: ServerProcess, atOnce: number): Promise<void> {
  const { locker, call, remove } = lockerClient(gateway)
  const body = JSON.stringify({ receipt_id: locker.receipt_id, files: [{ filename: 'large', size_bytes: SIZE }] })
  const path = `/v1/lockers/${locker.locker_id}/upload-sessions`
  const session = await call<Session>({ method: 'POST', path, ops: ['locker:write'], body })
  const headers = { 'x-upload-token': session.upload_token, ...TYPE }
  const parts = gateway.url + new URL(session.files[0].parts_url).pathname
  let next = 0
  const sender = async () => {
    while (next < PARTS) {
      await textOf(await sendBytes({ url: `${parts}?index=${next++}`, method: 'POST', headers }, PART))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sender))
  const finalize = `${gateway.url}/v1/upload-sessions/${session.session_id}/finalize`
  await textOf(
    await sendBytes({ url: finalize, method: 'POST', headers: { 'x-upload-token': session.upload_token } }, 0),
  )
  await remove('large')
}
