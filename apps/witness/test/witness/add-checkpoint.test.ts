import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { startTestWitness, type TestWitness } from '@svc/devnet/services/witness'
import { toBase64, toHex, utf8 } from '@svc/protocol/bytes'
import { sha256Bytes } from '@svc/protocol/sha256'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { type Checkpoint, cosignaturesOf, readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey, formatNote, keyId, type NoteSignature, readNote } from '@svc/protocol/transparency/note'
import { EMPTY_ROOT } from '@svc/protocol/transparency/tree'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { post, requestBody, testLog } from '../requests.ts'

const TIME = 1_800_000_000
const logs = {
  grown: testLog('log.example/grown'),
  raced: testLog('log.example/raced'),
  empty: testLog('log.example/empty'),
  hostile: testLog('log.example/hostile'),
}
const second = testKey('log.example/grown', 'cosigner')
const secondKey = { ...second.key, type: 'log' as const }

let witness: TestWitness
beforeAll(async () => {
  const lines = [
    ...Object.values(logs).map(({ line }) => line),
    `log ${formatKey(secondKey)} https://log.example/grown`,
  ]
  witness = await startTestWitness(lines, {}, { now: () => TIME * 1000 })
})
afterAll(() => witness.stop())

const send = (body: string | Uint8Array<ArrayBuffer>) => post(witness.url, body)
const lastOf = (origin: string) => fetch(`${witness.url}/${toHex(sha256Bytes(utf8(origin)))}/checkpoint`)
const checkpointOf = (text: string) => readCheckpoint(text) as Checkpoint
const withSignatures = (checkpoint: string, signatures: NoteSignature[]) => {
  const note = readNote(checkpoint)
  if (typeof note === 'string') throw new Error(note)
  return formatNote({ text: note.text, signatures: [...note.signatures, ...signatures] })
}

describe('the cosignatures of a growing log', { shuffle: false }, () => {
  const { grown } = logs
  const origin = grown.key.name

  it('WIT-05 a log has no page before its first checkpoint, or under another spelling of its hash', async () => {
    expect((await lastOf(origin)).status).toBe(404)
    expect((await lastOf('log.example/unknown')).status).toBe(404)
  })

  it('WIT-01 WIT-05 every cosignature vouches for its checkpoint and time, and the last one is shown', async () => {
    const sizes = [0, 3, 3, 8, 300]
    for (const [i, to] of sizes.slice(1).entries()) {
      const from = sizes[i]!
      const { status, text, type } = await send(await grown.request(from, to))
      expect([status, type], text).toEqual([200, 'text/plain; charset=utf-8'])
      const cosigned = `${await grown.checkpoint(to)}${text}`
      expect(cosignaturesOf(checkpointOf(cosigned), [witness.context.key])).toMatchObject([{ time: TIME }])
      const answer = await lastOf(origin)
      expect([answer.status, await answer.text()]).toEqual([200, cosigned])
    }
    const upperCase = toHex(sha256Bytes(utf8(origin))).toUpperCase()
    expect((await fetch(`${witness.url}/${upperCase}/checkpoint`)).status).toBe(404)
  })

  it('WIT-02 one of several keys of the log is sufficient, and signatures of others are dropped', async () => {
    const { text } = checkpointOf(await grown.checkpoint(301)).note
    const ofSecond = { name: origin, keyId: keyId(secondKey), signature: await second.sign(utf8(text)) }
    const unknownSigner = { name: 'unknown.example', keyId: new Uint8Array(4), signature: new Uint8Array(70) }
    const checkpoint = formatNote({ text, signatures: [unknownSigner, ofSecond] })
    const { status, text: lines } = await send(requestBody(300, await grown.prove(300, 301), checkpoint))
    expect(status, lines).toBe(200)
    expect(await (await lastOf(origin)).text()).toBe(`${formatNote({ text, signatures: [ofSecond] })}${lines}`)
  })

  it('WIT-01 a 409 response names the size to prove from, with its own content type', async () => {
    const { status, text, type } = await send(await grown.request(0, 302))
    expect([status, text, type]).toEqual([409, '301\n', 'text/x.tlog.size'])
  })
})

it('WIT-01 an empty log can be cosigned and grows from there', async () => {
  const { empty } = logs
  expect((await send(await empty.request(0, 0))).status).toBe(200)
  expect((await send(await empty.request(0, 0))).status).toBe(200)
  expect((await send(await empty.request(0, 2))).status).toBe(200)
})

it('WIT-03 T-106 each of many concurrent requests extends the previous one, and none removes entries', async () => {
  const { raced } = logs
  expect((await send(await raced.request(0, 1))).status).toBe(200)
  const accepted: [from: number, to: number][] = []
  const sizes = Array.from({ length: 80 }, (_, i) => i + 2)
  async function submit(to: number): Promise<void> {
    for (let from = 1; from < to; ) {
      const { status, text } = await send(await raced.request(from, to))
      if (status === 200) return void accepted.push([from, to])
      expect(status, text).toBe(409)
      from = Number(text)
    }
  }
  await Promise.all(sizes.map(submit))
  const inOrder = accepted.toSorted(([, a], [, b]) => a - b)
  expect(inOrder.at(0)?.[0]).toBe(1)
  for (const [i, [from]] of inOrder.entries()) if (i > 0) expect(from).toBe(inOrder[i - 1]![1])
  expect(inOrder.at(-1)?.[1]).toBe(81)
  expect(checkpointOf(await (await lastOf(raced.key.name)).text()).size).toBe(81)
})

describe('invalid requests', { shuffle: false }, () => {
  const { hostile } = logs
  const { name } = hostile.key
  const forger = testKey('forger', 'log')
  const signedBy = async (signer: typeof forger, id: Uint8Array, size = 20) => {
    const { text } = checkpointOf(await hostile.checkpoint(size)).note
    return { name, keyId: id, signature: await signer.sign(utf8(text)) }
  }
  const hash = toBase64(new Uint8Array(32))
  beforeAll(async () => {
    expect((await send(await hostile.request(0, 10))).status).toBe(200)
  })

  it('T-106 malformed requests are rejected before any signature is checked', async () => {
    const good = await hostile.request(10, 20)
    const checkpoint = await hostile.checkpoint(20)
    const malformed: Record<string, string | Uint8Array<ArrayBuffer>> = {
      'an empty body': '',
      'no old size': good.replace(/^old 10\n/, ''),
      'a leading zero': good.replace('old 10', 'old 010'),
      'a negative size': good.replace('old 10', 'old -1'),
      'a size beyond the safe integers': good.replace('old 10', `old ${'9'.repeat(16)}`),
      'CR LF': good.replaceAll('\n', '\r\n'),
      'no final newline': good.slice(0, -1),
      'bytes that are not UTF-8': Uint8Array.of(...utf8(good), 0xff),
      'a byte order mark': `\ufeff${good}`,
      'too many hashes': `old 10\n${`${hash}\n`.repeat(64)}\n${checkpoint}`,
      'no checkpoint': 'old 10\n\n',
      'no signature': `old 10\n\n${checkpointOf(checkpoint).note.text}\n`,
      'a checkpoint with a short root': `old 10\n\n${name}\n20\n${hash.slice(4)}\n\n${checkpoint.split('\n\n')[1]}`,
      'an old size above the size of the checkpoint': await hostile.request(11, 10),
    }
    for (const [what, body] of Object.entries(malformed)) expect((await send(body)).status, what).toBe(400)
    expect((await send(`old 10\n\n${checkpoint}${'x'.repeat(1_000_000)}`)).status).toBe(413)
  })

  it('T-106 signatures of another key under the name or the id of the log are rejected', async () => {
    const checkpoint = await hostile.checkpoint(20)
    const proof = await hostile.prove(10, 20)
    const { text } = checkpointOf(checkpoint).note
    const own = keyId(hostile.key)
    const forged: Record<string, string> = {
      'the id of the log': formatNote({ text, signatures: [await signedBy(forger, own)] }),
      'its name': formatNote({ text, signatures: [await signedBy(forger, keyId({ ...forger.key, name }))] }),
      'after the real one': withSignatures(checkpoint, [await signedBy(forger, own)]),
      'a signature of another checkpoint': formatNote({ text, signatures: [await signedBy(hostile, own, 21)] }),
      'an empty signature': formatNote({ text, signatures: [{ name, keyId: own, signature: new Uint8Array(1) }] }),
    }
    for (const [what, note] of Object.entries(forged))
      expect((await send(requestBody(10, proof, note))).status, what).toBe(403)
  })

  it('T-106 old checkpoints, wrong proofs and a wrong empty root are rejected', async () => {
    const replayed = await hostile.request(5, 7)
    expect(await send(replayed)).toMatchObject({ status: 409, text: '10\n' })
    const longest = `old 10\n${`${hash}\n`.repeat(63)}\n${await hostile.checkpoint(20)}`
    expect((await send(longest)).status).toBe(422)
    const notEmpty = await hostile.signHead({ size: 0, root: new Uint8Array(32) })
    expect((await send(requestBody(0, [], notEmpty))).status).toBe(422)
    const empty = await hostile.signHead({ size: 0, root: EMPTY_ROOT })
    expect(await send(requestBody(0, [], empty))).toMatchObject({ status: 409, text: '10\n' })
  })

  it('T-106 a stalled body delays no other request, and a body without a content type is read', async () => {
    const ask = (body: string, length: number) => {
      const socket = connect(Number(new URL(witness.url).port), '127.0.0.1')
      socket.write(`POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: ${length}\r\n`)
      socket.write(`Connection: close\r\n\r\n${body}`)
      return socket
    }
    const slow = ask('old 10\n', 60_000)
    const replayed = await hostile.request(5, 7)
    expect(await text(ask(replayed, Buffer.byteLength(replayed)))).toMatch(/^HTTP\/1\.1 409 .*\r\n10\n$/s)
    slow.destroy()
  })

  it('T-106 the log is unchanged by invalid requests and can be extended', async () => {
    expect(checkpointOf(await (await lastOf(name)).text()).size).toBe(10)
    const repeated = await signedBy(hostile, keyId(hostile.key))
    const note = withSignatures(
      await hostile.checkpoint(20),
      Array.from({ length: 400 }, () => repeated),
    )
    expect((await send(requestBody(10, await hostile.prove(10, 20), note))).status).toBe(200)
    expect((await (await lastOf(name)).text()).split('\n— ')).toHaveLength(3)
  })
})
