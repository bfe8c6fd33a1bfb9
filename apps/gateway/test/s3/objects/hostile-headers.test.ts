import { expect, it, onTestFinished } from 'vitest'
import { readObjectHeaders } from '../../../src/s3/objects/object-headers.ts'
import { openS3House } from '../s3-house.ts'

/** Every character that a query can carry and a header cannot, and some of the others. */
const CODES = [...Array(0x180).keys(), 0x2028, 0xfeff, 0x10000]
const canBeInHeader = (code: number) => code === 9 || (code >= 0x20 && code !== 0x7f && code <= 0xff)

it('T-122 metadata that a header cannot hold is refused, in names and values, and the rest is kept as it came', () => {
  for (const code of CODES) {
    const value = `a${String.fromCodePoint(code)}b`
    const read = () => readObjectHeaders({ 'x-amz-meta-x': value }).metadata
    if (canBeInHeader(code)) expect(JSON.parse(read() as string)).toEqual({ 'x-amz-meta-x': value })
    else expect(read, `${code}`).toThrow('not one that a header can have')
    if (!/[\w!#$%&'*+.^`|~-]/.test(String.fromCodePoint(code)))
      expect(() => readObjectHeaders({ [`x-amz-meta-${value}`]: 'x' }), `${code}`).toThrow()
  }
  expect(() => readObjectHeaders({ 'x-amz-meta-': 'x' })).toThrow()
  expect(readObjectHeaders({ 'x-amz-meta-__proto__': 'x' }).metadata).toBe('{"x-amz-meta-__proto__":"x"}')
})

it('T-122 what a client stores or asks for as a header ends no header, and comes back byte for byte', async () => {
  const house = await openS3House()
  onTestFinished(house.close)
  const bucket = await house.bucket()
  const kept = {
    'x-amz-meta-a': '<b>"\\; =cmd()',
    'cache-control': `a, b="c"`,
    'content-type': 'text/html; x="a\\"; b=c"',
  }
  const put = await bucket.send('PUT', 'kept', { headers: kept, body: 'x' })
  expect(put.status, put.text).toBe(200)
  const { headers } = await bucket.send('HEAD', 'kept')
  expect(Object.fromEntries(headers)).toMatchObject(kept)
  for (const name of ['cache-control', 'disposition', 'encoding', 'language', 'type', 'expires']) {
    const header = ['cache-control', 'expires'].includes(name) ? name : `content-${name}`
    for (const bad of ['a%0D%0Ax-evil%3A%201', '%00', '%7F'])
      expect((await bucket.send('GET', `kept?response-${header}=${bad}`)).code, header).toBe('InvalidArgument')
  }
})
