// What the gateway's own program occupies, as operators start it: its whole resident memory, and not only the growth.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { drainBytes, GIBIBYTE, sendBytes, textOf } from './bytes.ts'
import { startGatewayProgram } from './gateway-program.ts'
import { lockerClient } from './locker-client.ts'
import type { Row } from './row.ts'
import { scaled, sizeText } from './scale.ts'
import { type ServerProcess, serverProcess, startServer } from './server-process.ts'

const SIZE = scaled(GIBIBYTE, GIBIBYTE / 8)
const AT_ONCE = 8
const TYPE = { 'content-type': 'application/octet-stream' }
/** After its first answers a gateway is still busy with what it put off. */
const SETTLE_MS = 2000

const AT_REST_MIB = 120
const TRANSFERS_MIB = 200

/** Linux only: elsewhere the memory of another process is not so easily read. */
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

/** With one locker, made before it starts. */
async function startLockerProgram(): Promise<ServerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-memory-'))
  const { facts, stop } = await startServer('lockers', { DATA_DIR: folder })
  await stop()
  // The first start after an installation also prepares the later ones, which takes memory once.
  await (await startGatewayProgram({ DATA_DIR: folder })).stop()
  const program = await startGatewayProgram({ DATA_DIR: folder })
  return serverProcess({
    url: program.url,
    facts,
    usage: async () => ({ cpuSeconds: 0, memory: await residentMemory(program.pid) }),
    async stop() {
      await program.stop()
      await rm(folder, { recursive: true })
    },
  })
}

async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
}
