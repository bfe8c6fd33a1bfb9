// The whole resident memory of the gateway's program as an admin starts it, and not only its growth.

import { setTimeout } from 'node:timers/promises'
import { drainBytes, GIBIBYTE, sendBytes, textOf } from './bytes.ts'
import { lockerClient } from './locker-client.ts'
import { startLockerProgram } from './locker-program.ts'
import type { Row } from './row.ts'
import { scaled, sizeText } from './scale.ts'

const SIZE = scaled(GIBIBYTE, GIBIBYTE / 8)
const AT_ONCE = 8
const TYPE = { 'content-type': 'application/octet-stream' }
/** After its first responses a gateway is still busy with deferred work. */
const SETTLE_MS = 2000

const AT_REST_MIB = 120
const TRANSFERS_MIB = 200

/** Only on Linux, where the memory of another process is easy to read. */
export async function memoryRows(): Promise<Row[]> {
  if (process.platform !== 'linux') return []
  const gateway = await startLockerProgram()
  const { create } = lockerClient(gateway)
  const urls = await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => create(`file-${i}`)))
  const rest = await gateway.peakMemory(() => setTimeout(SETTLE_MS))
  const send = async (url: string) => textOf(await sendBytes({ url, headers: TYPE }, SIZE))
  const peakIn = await gateway.peakMemory(() => Promise.all(urls.map(({ upload_url }) => send(upload_url))))
  const peakOut = await gateway.peakMemory(() => Promise.all(urls.map(({ download_url }) => drainBytes(download_url))))
  await gateway.stop()
  return [
    row('memory at rest', `${rest.toFixed(0)} MiB`, rest, AT_REST_MIB),
    row(
      `memory, ${AT_ONCE} × ${sizeText(SIZE)} in, then out, at once`,
      `${peakIn.toFixed(0)} MiB in, ${peakOut.toFixed(0)} out`,
      Math.max(peakIn, peakOut),
      TRANSFERS_MIB,
    ),
  ]
}

function row(what: string, measured: string, peak: number, limit: number): Row {
  return { what, measured, against: `${limit} MiB`, ratio: peak / limit, goal: { atMost: 1 } }
}
