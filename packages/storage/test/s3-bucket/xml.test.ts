import { describe, expect, it } from 'vitest'
import { answerError } from '../../src/s3-bucket/errors.ts'
import { escaped, textIn, textsIn } from '../../src/s3-bucket/xml.ts'

describe('an answer of S3', () => {
  it('is read by the names of its elements', () => {
    const xml =
      '<?xml version="1.0"?>\n<A xmlns="http://x/"><Key>a</Key><KeyMarker>no</KeyMarker><B><Key>b</Key></B></A>'
    expect(textsIn(xml, 'Key')).toEqual(['a', 'b'])
    expect([textIn(xml, 'Key'), textIn(xml, 'B'), textIn(xml, 'Code')]).toEqual(['a', null, null])
    expect(textIn('<Key></Key>', 'Key')).toBe('')
  })

  it('has its known entities decoded, and unknown ones unchanged', () => {
    expect(textIn('<K>&amp;&lt;&gt;&quot;&apos;&#43;&#x2F;&amp;lt;</K>', 'K')).toBe('&<>"\'+/&lt;')
    expect(textIn('<K>&xxe;&#99999999;&#1114112;&#xZ;&;&</K>', 'K')).toBe('&xxe;&#99999999;&#1114112;&#xZ;&;&')
    expect(textIn(`<K>${escaped('"a"&<b>')}</K>`, 'K')).toBe('"a"&<b>')
  })

  it('T-139 contributes only its code to an error', () => {
    const text = '<Error><Code>AccessDenied</Code><Message>key AKIA</Message></Error>'
    const error = answerError('Storj', 'PUT', { status: 403, text })
    expect([error.reason, error.answer]).toEqual(['closed', { status: 403, code: 'AccessDenied' }])
    expect(error.cause).toEqual(new Error('Storj answered 403 AccessDenied to PUT'))
    expect(answerError('Storj', 'PUT', { status: 500, text: '<Code>a b\nc</Code>' }).answer?.code).toBe('')
    const badGateway = answerError('Storj', 'PUT', { status: 502, text: '<html>Bad gateway</html>' })
    expect(badGateway).toMatchObject({ reason: 'unavailable', answer: { code: '' } })
  })

  it('shows the difference of the clocks in its error when it denies access', () => {
    const at = (ahead: number) => new Date(Date.now() + ahead).toUTCString()
    const messageFor = (date: string) =>
      (answerError('Storj', 'HEAD', { status: 403, text: '', headers: { date } }).cause as Error).message
    expect(messageFor(at(3_600_000))).toMatch(/^Storj answered 403 {2}to HEAD: its clock and ours are \d{4} s apart$/)
    expect(messageFor(at(-3_600_000))).toContain('apart')
    for (const date of [at(0), '', 'someday']) expect(messageFor(date)).toBe('Storj answered 403  to HEAD')
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
  ])('means, with status %i and code %s, that the store is %s', (status, code, reason) => {
    expect(answerError('Storj', 'GET', { status, text: `<Code>${code}</Code>` }).reason).toBe(reason)
  })
})
