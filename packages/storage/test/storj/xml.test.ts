import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/storj/errors.ts'
import { escaped, textIn, textsIn } from '../../src/storj/xml.ts'

describe('the XML of S3', () => {
  it('is read by the names of its elements', () => {
    const xml =
      '<?xml version="1.0"?>\n<A xmlns="http://x/"><Key>a</Key><KeyMarker>no</KeyMarker><B><Key>b</Key></B></A>'
    expect(textsIn(xml, 'Key')).toEqual(['a', 'b'])
    expect([textIn(xml, 'Key'), textIn(xml, 'B'), textIn(xml, 'Code')]).toEqual(['a', null, null])
    expect(textIn('<Key></Key>', 'Key')).toBe('')
  })

  it('says what its entities stand for, and nothing of those that it does not know', () => {
    expect(textIn('<K>&amp;&lt;&gt;&quot;&apos;&#43;&#x2F;&amp;lt;</K>', 'K')).toBe('&<>"\'+/&lt;')
    expect(textIn('<K>&xxe;&#99999999;&#1114112;&#xZ;&;&</K>', 'K')).toBe('&xxe;&#99999999;&#1114112;&#xZ;&;&')
    expect(textIn(`<K>${escaped('"a"&<b>')}</K>`, 'K')).toBe('"a"&<b>')
  })

  it('T-31 lends no more than a code to what is thrown', () => {
    const refusal = new Refusal('PUT', 403, '<Error><Code>AccessDenied</Code><Message>key AKIA</Message></Error>')
    expect([refusal.reason, refusal.status, refusal.code]).toEqual(['closed', 403, 'AccessDenied'])
    expect(refusal.cause).toEqual(new Error('the store answered 403 AccessDenied to PUT'))
    expect(new Refusal('PUT', 500, '<Code>a b\nc</Code>').code).toBe('')
    expect(new Refusal('PUT', 502, '<html>Bad gateway</html>')).toMatchObject({ reason: 'unavailable', code: '' })
  })

  it('leads to a clock that is off, where that may be why we are not let in', () => {
    const at = (ahead: number) => new Date(Date.now() + ahead).toUTCString()
    const told = (date: string) => (new Refusal('HEAD', 403, '', date).cause as Error).message
    expect(told(at(3_600_000))).toMatch(/^the store answered 403 {2}to HEAD: its clock and ours are \d{4} s apart$/)
    expect(told(at(-3_600_000))).toContain('apart')
    for (const date of [at(0), '', 'someday']) expect(told(date)).toBe('the store answered 403  to HEAD')
  })

  it.each([
    [507, '', 'full'],
    [400, 'XMinioAdminBucketQuotaExceeded', 'full'],
    [403, 'QuotaExceeded', 'full'],
    [403, '', 'closed'],
    [401, 'Unauthorized', 'closed'],
    [400, '', 'closed'],
    [400, 'AuthorizationHeaderMalformed', 'closed'],
    [404, 'NoSuchBucket', 'closed'],
    [404, 'NoSuchUpload', 'unavailable'],
    [400, 'InvalidPart', 'unavailable'],
    [503, 'SlowDown', 'unavailable'],
    [500, '', 'unavailable'],
  ])('%i %s means that the store is %s', (status, code, reason) => {
    expect(new Refusal('GET', status, `<Code>${code}</Code>`).reason).toBe(reason)
  })
})
