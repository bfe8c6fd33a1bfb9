// Compares the S3 endpoint with the gateway's own interface and with another S3 server.

import { drainBytes, secondsOf, sendBytes, textOf } from './bytes.ts'
import { lockerClient } from './locker-client.ts'
import { startS3rver } from './peers/s3rver.ts'
import { presign, type S3Bucket } from './presign.ts'
import { requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { median, type Row } from './row.ts'
import { bucketOf } from './s3-bucket.ts'
import { scaled, sizeText } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const ROUNDS = scaled(3, 1)
const SIZE = scaled(256, 32) * 1_048_576
const TYPE = { 'content-type': 'application/octet-stream' }
const FILES = 100

interface Target {
  put(): Promise<unknown>
  get(): Promise<unknown>
}

export async function s3Rows(): Promise<Row[]> {
  const gateway = await startServer('lockers', { LOG_LEVEL: 'warn', S3: 'on' })
  const peer = await startS3rver()
  const place = await bucketOf(gateway)
  const targets = {
    s3: s3Target(place),
    own: ownTarget(gateway),
    peer: { put: () => peer.put('large', SIZE), get: () => peer.get('large') },
  }
  const rows = [...(await byteRows(targets)), await listRow(gateway, place)]
  await peer.server.stop()
  await gateway.stop()
  return rows
}

function s3Target(place: S3Bucket): Target {
  return {
    put: async () => textOf(await sendBytes({ url: presign(place, 'PUT', 'by-s3'), headers: TYPE }, SIZE)),
    get: () => drainBytes(presign(place, 'GET', 'by-s3')),
  }
}

/** Includes hashing and confirming the file, as a PUT through S3 does. */
function ownTarget(gateway: ServerProcess): Target {
  const client = lockerClient(gateway)
  let url = ''
  return {
    async put() {
      const { upload_url, download_url } = await client.create('by-url')
      url = download_url
      await textOf(await sendBytes({ url: upload_url, headers: TYPE }, SIZE))
      await client.confirm('by-url')
    },
    get: () => drainBytes(url),
  }
}

async function byteRows({ s3, own, peer }: Record<'s3' | 'own' | 'peer', Target>): Promise<Row[]> {
  const rows: Row[] = []
  for (const verb of ['put', 'get'] as const) {
    const seconds: [s3: number, own: number, peer: number][] = []
    for (const target of [s3, own, peer]) await target[verb]()
    for (let round = 0; round < ROUNDS; round++)
      seconds.push([await secondsOf(s3[verb]), await secondsOf(own[verb]), await secondsOf(peer[verb])])
    const [ours, byUrl, theirs] = [0, 1, 2].map((i) => median(seconds.map((times) => times[i] as number)))
    const row = (against: string, other: number, atLeast: number): Row => ({
      what: `S3 ${verb.toUpperCase()} of ${sizeText(SIZE)}`,
      measured: mebibytes(ours as number),
      against: `${against}: ${mebibytes(other)}`,
      ratio: other / (ours as number),
      goal: { atLeast },
    })
    rows.push(row('by short URL', byUrl as number, 0.9), row('s3rver', theirs as number, 1))
  }
  return rows
}

const mebibytes = (seconds: number) => `${(SIZE / 1_048_576 / seconds).toFixed(0)} MiB/s`

async function listRow(gateway: ServerProcess, place: S3Bucket): Promise<Row> {
  for (let i = 0; i < FILES; i++) await textOf(await sendBytes({ url: presign(place, 'PUT', `file-${i}`) }, 1))
  const { locker, sign } = lockerClient(gateway)
  const url = new URL(presign(place, 'GET', '', { 'list-type': '2', 'max-keys': String(FILES) }))
  const s3 = { path: url.pathname + url.search }
  const path = `/v1/lockers/${locker.locker_id}/files?limit=${FILES}`
  const own = { path: '/', next: () => ({ path, headers: sign({ method: 'GET', path, ops: ['locker:list'] }) }) }
  for (const route of [s3, own]) await warmUp(gateway, route)
  const rates: [s3: number, own: number][] = []
  for (let round = 0; round < ROUNDS; round++)
    rates.push([await requestsPerCpuSecond(gateway, s3), await requestsPerCpuSecond(gateway, own)])
  const [ours, byOwn] = [median(rates.map(([rate]) => rate)), median(rates.map(([, rate]) => rate))]
  return {
    what: `S3 list of ${FILES} files`,
    measured: `${ours.toFixed(0)} per CPU second`,
    against: `a signed request for the same page: ${byOwn.toFixed(0)}`,
    ratio: ours / byOwn,
    goal: { atLeast: 0.9 },
  }
}
