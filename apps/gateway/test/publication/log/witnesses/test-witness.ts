// A witness that follows the protocol (C2SP tlog-witness) unless a test changes its behaviour.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fromBase64 } from '@svc/protocol/bytes'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { cosign, readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey, formatSignature, isSignedBy, type NoteKey } from '@svc/protocol/transparency/note'
import { isConsistent, type TreeHead } from '@svc/protocol/transparency/tree'

interface WitnessRequest {
  old: number
  size: number
}

type Respond = (response: ServerResponse, honest: () => Promise<void>) => void | Promise<void>

export async function startTestWitness(name: string) {
  const { key, sign } = testKey(name, 'cosigner')
  const requests: WitnessRequest[] = []
  let respond: Respond = (_, honest) => honest()
  let logKey: NoteKey | null = null
  let latest: TreeHead | null = null

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const [head = '', ...rest] = body.split('\n\n')
    const [oldLine = '', ...proof] = head.split('\n')
    const checkpoint = readCheckpoint(rest.join('\n\n'))
    const old = Number(oldLine.replace('old ', ''))
    if (typeof checkpoint === 'string' || request.url !== '/w/add-checkpoint') return refuse(response, 400)
    requests.push({ old, size: checkpoint.size })
    await respond(response, async () => {
      if (!logKey || !isSignedBy(checkpoint.note, logKey)) return refuse(response, 403)
      const known = latest?.size ?? 0
      if (old !== known) return refuse(response, 409, `${known}\n`)
      const hashes = proof.map((line) => fromBase64(line) as Uint8Array)
      if (latest && !isConsistent(latest, checkpoint, hashes)) return refuse(response, 422)
      latest = { size: checkpoint.size, root: checkpoint.root }
      response.end(formatSignature(await cosign(key, checkpoint, 1_800_000_000, sign)))
    })
  }

  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    key,
    sign,
    requests,
    /** The line of a policy that names this witness. */
    line: `witness ${name} ${formatKey(key)} http://127.0.0.1:${port}/w/`,
    trust: (log: NoteKey) => {
      logKey = log
    },
    /** Forgets the log, so that the witness can follow another one. */
    forget: () => {
      latest = null
      requests.length = 0
    },
    behave: (behaviour: Respond) => {
      respond = behaviour
    },
    honestly: () => {
      respond = (_, honest) => honest()
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type TestWitness = Awaited<ReturnType<typeof startTestWitness>>

export async function refuse(response: ServerResponse, status: number, body = ''): Promise<void> {
  response.writeHead(status).end(body)
}
