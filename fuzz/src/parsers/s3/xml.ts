// XML of requests, and what our own writer makes of it.

import { readPartList } from '@svc/gateway/adapters/s3/multipart/part-list'
import { S3Error } from '@svc/s3/errors'
import { readXml, textOf, writeXml, type XmlElement, type XmlValue } from '@svc/s3/xml'
import { accepted, must, mustEqual, type Parser } from '../engine/parser.ts'

const LIMITS = { bytes: 65_536, elements: 1000 }

export function open(): Parser {
  return {
    seeds: [
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
      ...[
        '<',
        '>',
        '</',
        '/>',
        '<a>',
        '</a>',
        '<!--',
        '-->',
        '<![CDATA[',
        ']]>',
        '&amp;',
        '&#0;',
        '&#x110000;',
        '&#xd800;',
      ],
      ...[
        '<!DOCTYPE a [<!ENTITY b "c">]>',
        '&b;',
        '<?x?>',
        'xmlns="',
        "='",
        '\ufeff',
        'encoding="utf-16"',
        '<Part>',
        '</Part>',
      ],
    ],
    maxBytes: LIMITS.bytes + 100,
    check(input) {
      accepted(S3Error, () => readPartList(Buffer.from(input)))
      const root = accepted(S3Error, () => readXml(input, LIMITS))
      if (!root) return
      accepted(S3Error, () => textOf(root, 'Key'))
      must(countOf(root) <= LIMITS.elements, 'takes more elements than it may')
      const plain = withoutMixed(root)
      const written = Buffer.from(writeXml(plain.name, contentOf(plain)))
      // Characters that are written as entities take more bytes.
      const again = readXml(written, { ...LIMITS, bytes: written.length })
      mustEqual(again, plain, 'what was read is another document when it is written')
    },
  }
}

function countOf({ children }: XmlElement): number {
  return children.reduce((sum, child) => sum + countOf(child), 1)
}

/** The writer has no text beside elements, and keeps elements of one name together. */
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
