import { GIBIBYTE, secondsOf, sendBytes, textOf } from './bytes.ts'
import { lockerClient } from './locker-client.ts'
import { median, type Row } from './row.ts'
import { scaled, sizeText } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const ROUNDS = scaled(5, 1)
const PART = 8 * 1_048_576
const SIZE = scaled(GIBIBYTE, GIBIBYTE / 4)
const PARTS = SIZE / PART

interface Session {
  session_id: string
  upload_token: string
  files: [{ file_id: string; parts_url: string }]
}

/** A file in parts of 8 MiB, one after the other. Our file is durable and hashed at the end; theirs is in the page cache. */
export async function sessionRows(): Promise<Row[]> {
  const tus = await startServer('tus')
  const gateway = await startServer('lockers', { LOG_LEVEL: 'warn' })
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await secondsOf(() => uploadByTus(tus)))
    ours.push(await secondsOf(() => uploadBySession(gateway)))
  }
  await tus.stop()
  await gateway.stop()
  return [
    {
      what: `resumable upload, ${sizeText(SIZE)} in parts of 8 MiB, durable and hashed`,
      measured: `${median(ours).toFixed(2)} s`,
      against: `tus-node-server, neither: ${median(theirs).toFixed(2)} s`,
      ratio: median(theirs) / median(ours),
      goal: { atLeast: 1 },
    },
  ]
}

async function uploadByTus({ url }: ServerProcess): Promise<void> {
  const tus = { 'tus-resumable': '1.0.0' }
  const made = await sendBytes(
    { url: `${url}/files`, method: 'POST', headers: { ...tus, 'upload-length': String(SIZE) } },
    0,
  )
  await textOf(made)
  const location = new URL(made.headers.location as string, url).pathname
  for (let part = 0; part < PARTS; part++) {
    const headers = { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(part * PART) }
    await textOf(await sendBytes({ url: url + location, method: 'PATCH', headers }, PART))
  }
}

async function uploadBySession(gateway: ServerProcess): Promise<void> {
  const { locker, call, remove } = lockerClient(gateway)
  const body = JSON.stringify({ receipt_id: locker.receipt_id, files: [{ filename: 'large', size_bytes: SIZE }] })
  const path = `/v1/lockers/${locker.locker_id}/upload-sessions`
  const session = await call<Session>({ method: 'POST', path, ops: ['locker:write'], body })
  const headers = { 'x-upload-token': session.upload_token, 'content-type': 'application/octet-stream' }
  const parts = gateway.url + new URL(session.files[0].parts_url).pathname
  for (let index = 0; index < PARTS; index++) {
    await textOf(await sendBytes({ url: `${parts}?index=${index}`, method: 'POST', headers }, PART))
  }
  const finalize = `${gateway.url}/v1/upload-sessions/${session.session_id}/finalize`
  await textOf(
    await sendBytes({ url: finalize, method: 'POST', headers: { 'x-upload-token': session.upload_token } }, 0),
  )
  await remove('large')
}
