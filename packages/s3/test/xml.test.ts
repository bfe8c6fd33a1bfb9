import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, must, mustEqual } from '@svc/devnet/properties/rules'
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import { S3Error } from '../src/errors.ts'
import { childrenOf, encodeKey, readXml, textOf, writeXml, type XmlElement, type XmlValue } from '../src/xml.ts'

const LIMITS = { bytes: 100_000, elements: 100 }

function read(text: string | Uint8Array, limits = LIMITS): XmlElement {
  return readXml(Buffer.from(text), limits)
}

const malformed = expect.objectContaining({ code: 'MalformedXML' })

describe('bodies of requests', () => {
  it('ADD-41 DeleteObjects is read with and without a namespace', () => {
    const objects =
      '<Object><Key>a &amp; b</Key></Object>\n  <Object><Key> c </Key><VersionId/></Object><Quiet>true</Quiet>'
    for (const text of [
      `<Delete>${objects}</Delete>`,
      `<?xml version="1.0" encoding="UTF-8"?>\n<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${objects}</Delete>\n`,
      `\ufeff<?xml version='1.0'?><!-- by hand --><s3:Delete xmlns:s3='http://a'>${objects}</s3:Delete>`,
    ]) {
      const root = read(text)
      expect([root.name, textOf(root, 'Quiet'), textOf(root, 'Other')]).toEqual(['Delete', 'true', null])
      expect(childrenOf(root, 'Object').map((one) => [textOf(one, 'Key'), textOf(one, 'VersionId')])).toEqual([
        ['a & b', null],
        [' c ', ''],
      ])
    }
  })

  it('ADD-41 the five entities, character references and CDATA are read', () => {
    expect(read('<a>&lt;&gt;&amp;&quot;&apos;&#233;&#xE9;&#x1F600;<![CDATA[<b>&amp;]]></a>').text).toBe(
      '<>&"\'éé😀<b>&amp;',
    )
  })

  it.each([
    ['no document', ['', 'hello', '<a/><b/>', '<a/>b']],
    ['tags that do not match', ['<a><b></b>', '<a><b></a></b>', '<a></a></a>', '<a', '<a b=c/>', '<a b="c/>']],
    ['a document type', ['<!DOCTYPE a><a/>', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>']],
    ['an external entity', ['<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>']],
    ['an unknown entity', ['<a>&nbsp;</a>', '<a>a & b</a>']],
    ['a reference to an invalid character', ['0', 'xD800', 'x110000', '1'].map((number) => `<a>&#${number};</a>`)],
    ['a control character', ['<a>\u0001</a>']],
    ['instructions and open comments', ['<a><?php evil ?></a>', '<a><!-- </a>']],
    ['another encoding or version', ['<?xml version="1.0" encoding="UTF-16"?><a/>', '<?xml version="1.1"?><a/>']],
    ['deep nesting', [`${'<a>'.repeat(9)}${'</a>'.repeat(9)}`]],
    ['too much', [`<a>${'<b/>'.repeat(100)}</a>`, `<a>${' '.repeat(100_000)}</a>`]],
    ['what is not UTF-8', [Uint8Array.of(0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e)]],
  ])('T-93 %s is MalformedXML', (_, texts) => {
    for (const text of texts) expect(() => read(text), String(text).slice(0, 80)).toThrow(malformed)
  })

  it('T-93 an element that must be unique is rejected when it is repeated', () => {
    expect(() => textOf(read('<a><Key>b</Key><Key>c</Key></a>'), 'Key')).toThrow(malformed)
  })

  it('T-93 text that would take quadratic time is rejected', { tags: ['nightly'] }, () => {
    const limits = { bytes: 2_000_000, elements: 10 }
    // With work in the square of it, the test would time out.
    const n = 600_000
    for (const text of [
      `<a${' '.repeat(n)}`,
      `<a ${'b'.repeat(n)}`,
      `<a ${'b="c" '.repeat(n / 6)}`,
      '<'.repeat(n),
      '<!--'.repeat(n / 4),
      '<a><![CDATA['.repeat(n / 12),
      `<a>${'&'.repeat(n)}</a>`,
      `<a>${'&#'.repeat(n / 2)}</a>`,
      `<?xml version="1.0"${' '.repeat(n)}`,
      '</a>'.repeat(n / 4),
    ]) {
      expect(() => read(text, limits)).toThrow(malformed)
    }
  })
})

describe('answers', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 })

  it('ADD-41 elements are written in order, arrays repeated, undefined omitted, with the namespace', () => {
    const value = {
      Name: 'a',
      Prefix: '',
      IsTruncated: false,
      Marker: undefined,
      Contents: [{ Key: 'k', Size: 1 }, { Key: '<&>"' }],
    }
    expect(writeXml('ListBucketResult', value)).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>a</Name><Prefix></Prefix><IsTruncated>false</IsTruncated><Contents><Key>k</Key><Size>1</Size></Contents><Contents><Key>&lt;&amp;&gt;&quot;</Key></Contents></ListBucketResult>',
    )
    expect(writeXml('Error', { Code: 'NoSuchKey' })).toContain('<Error><Code>')
  })

  it('ADD-41 any text is read back, by this reader and by a library', () => {
    const parser = new XMLParser({ parseTagValue: false, trimValues: false })
    fc.assert(
      fc.property(text, (key) => {
        const expected = key
          .toWellFormed()
          // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot contain these
          .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
        const xml = writeXml('Error', { Key: key })
        expect(textOf(read(xml), 'Key')).toBe(expected)
        const { Error: parsed } = parser.parse(xml)
        expect(parsed.Key.replaceAll('&#13;', '\r')).toBe(expected)
      }),
    )
  })

  it('ADD-41 any key is read back unchanged with encoding-type=url', () => {
    fc.assert(
      fc.property(text, (given) => {
        const key = given.toWellFormed()
        const encoded = encodeKey(key, 'url')
        expect(encoded).toMatch(/^[A-Za-z0-9\-._~/%]*$/)
        expect(decodeURIComponent(encoded)).toBe(key)
        expect(decodeURIComponent(encoded.replaceAll('+', ' '))).toBe(key)
      }),
    )
    expect(encodeKey('a/b c(1)+é', 'url')).toBe('a/b%20c%281%29%2B%C3%A9')
    expect(encodeKey('a b', null)).toBe('a b')
  })
})

const MADE_UP_LIMITS = { bytes: 65_536, elements: 100 }

it('T-129 no made-up input breaks the rules of XML', async () => {
  expect(
    await problemWith({
      examples: [
        writeXml('Delete', { Object: [{ Key: 'a&b<c>"\r\n' }, { Key: 'é', VersionId: 'null' }], Quiet: true }),
        writeXml('CompleteMultipartUpload', {
          Part: [
            { PartNumber: 1, ETag: '"a-1"' },
            { PartNumber: 2, ETag: 'b' },
          ],
        }),
        '<?xml version="1.0" encoding="utf-8"?><s3:A xmlns:s3="x" b=\'c\'><!-- d --><![CDATA[<e>]]>&#x41;&amp;</s3:A>',
      ],
      words: [
        ...`< > </ /> <a> </a> <!-- --> <![CDATA[ ]]> &amp; &#0; &#x110000; &#xd800; &b; <?x?> xmlns=" =' \ufeff encoding="utf-16" <Part> </Part>`.split(
          ' ',
        ),
        '<!DOCTYPE a [<!ENTITY b "c">]>',
      ],
      maxBytes: MADE_UP_LIMITS.bytes + 100,
      rule(input) {
        const root = accepted(S3Error, () => readXml(input, MADE_UP_LIMITS))
        if (!root) return
        accepted(S3Error, () => textOf(root, 'Key'))
        must(countOf(root) <= MADE_UP_LIMITS.elements, 'accepts more elements than allowed')
        const plain = withoutMixed(root)
        const written = Buffer.from(writeXml(plain.name, contentOf(plain)))
        // Characters that are written as entities take more bytes.
        const again = readXml(written, { ...MADE_UP_LIMITS, bytes: written.length })
        mustEqual(again, plain, 'a document changes when it is written again')
      },
    }),
  ).toBeNull()
})

function countOf({ children }: XmlElement): number {
  return children.reduce((sum, child) => sum + countOf(child), 1)
}

/** The writer has no text beside elements, and groups elements of one name. */
function withoutMixed({ name, text, children }: XmlElement): XmlElement {
  const byName = Map.groupBy(children, (child) => child.name)
  const grouped = Object.keys(Object.fromEntries(byName)).flatMap((each) => byName.get(each) ?? [])
  return { name, text: children.length > 0 ? '' : text, children: grouped.map(withoutMixed) }
}

function contentOf({ text, children }: XmlElement): XmlValue {
  if (children.length === 0) return text
  return Object.fromEntries(
    [...Map.groupBy(children, ({ name }) => name)].map(([name, all]) => [name, all.map(contentOf)] as const),
  )
}
