import { connect } from 'node:net'
import { errorsOf } from '@svc/api/endpoint'
import { gatewayEndpoints } from '@svc/api/gateway'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chainOfThree, type EvidenceHouse, openEvidenceHouse } from './evidence-house.ts'

const GETS = [
  '/v1/storage/verify',
  '/v1/storage/statements',
  '/v1/retrieve',
  '/v1/retrieve/payment',
  '/v1/attest-code',
  '/v1/storage/merkle-proof',
  '/v1/storage/verification-bundle',
  '/v1/storage/evidence-bundle',
  '/v1/storage/redacted-bundle',
  '/v1/storage/dsse',
  '/v1/storage/recompute-verify',
  '/v1/self-verify',
]
const POSTS = ['/v1/storage/verify', '/v1/attest/simulate']

forEachDatabase('hostile input', (database) => {
  let house: EvidenceHouse
  let receiptId: string
  beforeAll(async () => {
    house = await openEvidenceHouse({ DATABASE_URL: database.url })
    receiptId = (await chainOfThree(house)).receipt_id
  })
  afterAll(() => house.close())

  /** Values that no endpoint with this field may take. */
  const queries = (): Record<string, string[]> => ({
    receipt_id: [
      '',
      'receipt_id',
      'receipt_id=',
      `receipt_id=${receiptId}&receipt_id=${receiptId}`,
      `receipt_id[]=${receiptId}`,
      'receipt_id=%00',
      'receipt_id=%ff%fe',
      'receipt_id=%ed%a0%80',
      `receipt_id=${'a'.repeat(8000)}`,
      `receipt_id=${encodeURIComponent("' or 1=1 --")}`,
      'receipt_id=__proto__',
    ],
    sequence: ['-1', '1e3', '0x1', '4294967296', '9223372036854775808', 'NaN', '%00', '1&sequence=2'].map(
      (sequence) => `receipt_id=${receiptId}&filename=a.txt&sequence=${sequence}`,
    ),
    filename: ['%00', '..%2f', '%ed%a0%80', 'a'.repeat(8000), '__proto__', 'a.txt&filename=%00', '%F0%9F%98%80'].map(
      (filename) => `receipt_id=${receiptId}&filename=${filename}`,
    ),
  })

  it('T-06 T-11 GEN-08 in a query is refused with a declared error by every endpoint that reads the field', {
    tags: ['nightly'],
  }, async () => {
    for (const path of GETS) {
      const endpoint = gatewayEndpoints.find((each) => each.path === path && each.method === 'GET')!
      for (const [field, values] of Object.entries(queries())) {
        for (const query of values) {
          const { status, body } = await house.send<{ error?: string }>('GET', `${path}?${query}`)
          const at = `${path}?${query.slice(0, 80)}`
          if (!(field in endpoint.query!.properties)) expect(status, at).toBe(200)
          else if (field === 'sequence' || /%(00|ff|ed)/.test(query))
            expect([status, body.error], at).toEqual([422, 'validation_error'])
          else expect(errorsOf(endpoint), at).toContainEqual({ code: body.error, status })
        }
      }
    }
  })

  it('T-11 GEN-08 in a body is a validation_error', async () => {
    const bodies = ['', 'null', '[]', '{', '7', '{"receipt_id":null}', '{"receipt_id":{}}', '{"receipt_id":"\\u0000"}']
    const more = ['{"receipt_id":"\\ud800"}', '{"__proto__":{"receipt_id":"x"}}']
    for (const path of POSTS) {
      for (const body of [...bodies, ...more]) {
        const refused = await house.send<{ error?: string }>('POST', path, body)
        expect([refused.status, refused.body.error], `${path} ${body}`).toEqual([422, 'validation_error'])
      }
    }
  })

  it('T-11 in a header that is not text is answered like any other value', async () => {
    const { hostname, port } = new URL(house.gateway.url)
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
