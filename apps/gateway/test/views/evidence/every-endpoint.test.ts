// Behaviour that all public reads of evidence share.

import { connect } from 'node:net'
import { errorsOf } from '@svc/api/endpoint'
import { gatewayEndpoints } from '@svc/api/gateway'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { beforeAll, expect, it } from 'vitest'
import { chainOfThree, openEvidenceGateway } from './evidence-gateway.ts'

/** The errors of each read: for a missing receipt, and for a receipt without a statement. */
const READS: [path: string, withoutReceipt: string, withoutStatement: string | null][] = [
  ['/v1/storage/verify', 'validation_error', null],
  ['/v1/storage/statements', 'validation_error', null],
  ['/v1/retrieve', 'validation_error', 'attestation_not_available'],
  ['/v1/retrieve/payment', 'validation_error', null],
  ['/v1/attest-code', 'validation_error', 'missing_result_hash_run_storage_verify_first'],
  ['/v1/storage/merkle-proof', 'validation_error', 'attestation_not_available'],
  ['/v1/storage/verification-bundle', 'validation_error', null],
  ['/v1/storage/evidence-bundle', 'missing_receipt_id', 'attestation_not_available'],
  ['/v1/storage/redacted-bundle', 'validation_error', 'attestation_not_available'],
  ['/v1/storage/dsse', 'validation_error', 'attestation_not_available'],
  ['/v1/storage/recompute-verify', 'validation_error', 'attestation_not_available'],
  ['/v1/self-verify', 'validation_error', 'attestation_not_available'],
]
const POSTS = ['/v1/storage/verify', '/v1/attest/simulate']

forEachDatabase('evidence', (database) => {
  const ORACLE_CALLBACK_SECRET = 'the-secret-of-all-the-oracles'
  const instance = forAllTests(() => openEvidenceGateway({ DATABASE_URL: database.url, ORACLE_CALLBACK_SECRET }))
  let receiptId: string
  beforeAll(async () => {
    receiptId = (await chainOfThree(instance)).receipt_id
  })

  const endpointOf = (path: string) => gatewayEndpoints.find((each) => each.path === path && each.method === 'GET')!

  it.each(READS)(
    'ERR-06 ERR-07 %s refuses a missing or unknown receipt, and a missing statement or sequence',
    async (path, withoutReceipt, withoutStatement) => {
      const endpoint = endpointOf(path)
      const refusal = async (query: Record<string, string | number>) => {
        const { status, body, headers } = await instance.read<{ error: string }>(path, { filename: 'a.txt', ...query })
        if (status === 200) return null
        expect(errorsOf(endpoint)).toContainEqual({ code: body.error, status })
        if (path.includes('bundle')) expect(headers.get('cache-control')).toBe('no-store')
        return body.error
      }
      expect(await refusal({})).toBe(withoutReceipt)
      expect(await refusal({ receipt_id: 'rcpt_none' })).toBe('receipt_not_found')
      expect(await refusal({ receipt_id: (await instance.listed(1)).receipt_id })).toBe(withoutStatement)
      const isRead = 'sequence' in endpoint.query!.properties
      const unknown = isRead ? 'statement_not_found' : null
      for (const sequence of [4, 4_294_967_295])
        expect(await refusal({ receipt_id: receiptId, sequence })).toBe(unknown)
    },
  )

  it.each<[string, (body: never) => unknown[] | undefined]>([
    ['/v1/storage/verify', ({ attestation }: { attestation: { files: [] } }) => attestation.files],
    ['/v1/retrieve', ({ manifest }: { manifest: { files: [] } }) => manifest.files],
    ['/v1/storage/verification-bundle', (body: { content_proof: { files: [] } }) => body.content_proof.files],
    ['/v1/storage/evidence-bundle', ({ files }: { files: [] }) => files],
    ['/v1/storage/redacted-bundle', (body: { leaf_hashes: [] }) => body.leaf_hashes],
  ])('ATT-16 ATT-19 %s answers each statement of a chain by its sequence', async (path, filesOf) => {
    const countIn = async (query = {}) => filesOf(await instance.get<never>(path, { receipt_id: receiptId, ...query }))
    for (const sequence of [1, 2, 3]) expect(await countIn({ sequence })).toHaveLength(sequence)
    expect(await countIn()).toHaveLength(3)
  })

  it('T-06 GEN-08 refuses hostile query values at every endpoint that reads the field', async () => {
    for (const [path] of READS) {
      const { query } = endpointOf(path)
      const hostile = {
        receipt_id: ['%00', '%ff%fe', '%ed%a0%80', `${receiptId}&receipt_id=${receiptId}`],
        sequence: ['-1', '1e3', '4294967296', '99999999999999999999', 'NaN', '%00', '1&sequence=2'],
        filename: ['%00', '%ed%a0%80'],
      }
      for (const [field, values] of Object.entries(hostile).filter(([name]) => name in query!.properties)) {
        for (const value of values) {
          const valid = Object.entries({ receipt_id: receiptId, filename: 'a.txt' }).filter(([name]) => name !== field)
          const at = `${path}?${new URLSearchParams(valid)}&${field}=${value}`
          const { status, body } = await instance.send<{ error?: string }>('GET', at)
          expect([status, body.error], at).toEqual([422, 'validation_error'])
        }
      }
    }
  })

  it.each(POSTS)('VER-02 ATT-13 POST %s refuses hostile bodies and unknown receipts', async (path) => {
    const bodies = ['', 'null', '[]', '{', '{}', '7', '{"receipt_id":null}', '{"receipt_id":{}}']
    const more = ['{"receipt_id":"\\u0000"}', '{"receipt_id":"\\ud800"}', '{"__proto__":{"receipt_id":"x"}}']
    const sequences = [-1, 1.5, '1', null, 1e300].map((sequence) => ({ receipt_id: receiptId, sequence }))
    for (const body of [...bodies, ...more, ...(path.includes('verify') ? sequences : [])]) {
      const refused = await instance.send<{ error?: string }>('POST', path, body)
      expect([refused.status, refused.body.error], JSON.stringify(body)).toEqual([422, 'validation_error'])
    }
    const unknown = await instance.send('POST', path, { receipt_id: 'rcpt_none' })
    expect(unknown).toMatchObject({ status: 404, body: { error: 'receipt_not_found' } })
  })

  it('T-11 answers normally to headers that are not text', async () => {
    const { hostname, port } = new URL(instance.gateway.url)
    for (const header of [
      'X-Oracle-Secret: \xff\xfe',
      'X-Oracle-Secret: a\r\nX-Oracle-Secret: b',
      'Authorization: Bearer \xff',
    ]) {
      for (const [path, status] of [
        [`/v1/retrieve?receipt_id=${receiptId}`, 200],
        ['/v1/attest-code/jwt', 401],
      ]) {
        const socket = connect(Number(port), hostname)
        socket.write(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\nConnection: close\r\n\r\n`, 'latin1'))
        let answer = ''
        for await (const chunk of socket) answer += chunk
        expect(answer, header).toContain(`HTTP/1.1 ${status} `)
      }
    }
  })
})

it.each([
  ['GET', '/v1/storage/recompute-verify'],
  ['GET', '/v1/self-verify'],
  ['POST', '/v1/attest/simulate'],
])('T-10 VER-18 the gateway counts %s %s against the public rate limits', async (method, path) => {
  const instance = await openEvidenceGateway({ RATE_LIMITS: 'receipt=2/min' })
  const locker = await instance.listed(1)
  await instance.state(locker)
  const { receipt_id } = locker
  const ask = () =>
    method === 'GET' ? instance.read(path, { receipt_id }) : instance.send(method, path, { receipt_id })
  for (const status of [200, 200, 429]) expect((await ask()).status).toBe(status)
  await instance.close()
})
