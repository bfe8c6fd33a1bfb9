// The page that shows a file of a public link.

import { common } from './common.ts'

const moment = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' })

export const texts = {
  title: (name: string) => `${name} · file`,
  loading: 'Opening the file…',
  reading: (done: number, of: number) => `Reading ${common.bytes(done)} of ${common.bytes(of)}`,
  download: 'Download',
  copyLink: 'link to this page',
  copyLabel: 'Copy link',
  moment: (date: Date) => moment.format(date),

  about: {
    title: 'About this file',
    size: 'Size',
    type: 'Type',
    typeNote: 'as it was declared',
    noType: 'not declared',
    stored: 'Stored',
    hash: 'SHA-256',
    hashLabel: 'SHA-256 of the file',
    noHash: 'The gateway has not recorded it yet.',
    same: 'Matches what was received',
    sameText: 'Your browser computed this hash from the bytes it received.',
    differs: 'Does not match',
    differsText: (hash: string) =>
      `Your browser received bytes with the hash ${hash}. Do not trust what you see; tell the person who gave you the link.`,
    computed: 'Computed here',
    unchecked: 'Recorded by the gateway; not compared yet.',
    check: (size: number) => `Compare now (reads ${common.bytes(size)})`,
    checkLabel: 'Comparing the hash',
    failed: 'The file could not be read to the end.',
  },

  proof: {
    title: 'Proof',
    loading: 'Asking the gateway…',
    says: 'This is what the gateway says. Check it yourself, in your own browser:',
    verify: 'Verify this receipt',
    proven: 'Proven',
    provenAt: (date: string) => `In a statement that was published on chain on ${date}.`,
    published: 'In a statement that is published on chain.',
    signed: 'Signed, not published yet',
    signedText: 'In a signed statement that waits to be published on chain.',
    other: 'Another version is proven',
    otherText: 'The statement names other bytes for this file: it was replaced afterwards.',
    unknown: 'Not compared yet',
    unknownText:
      'A statement names this file with this size. Comparing the hash shows whether it is about these bytes.',
    none: 'Not proven yet',
    noneText: 'No statement of the locker names this file so far.',
    hidden: 'Not shown with this link',
    hiddenText:
      'The owner gave this link an id of its own, which does not reveal the receipt. Ask them for the receipt id.',
    failed: 'Unknown',
    failedText: 'The gateway did not say whether this file is proven.',
  },

  upload: {
    title: 'Files of this upload',
    loading: 'Asking the gateway…',
    failed: 'The gateway did not list the files of this upload.',
    missing: { open: 'not uploaded yet', failed: 'not uploaded' },
    until: (date: string) => `This link works until ${date}. It shows this upload and nothing else of the locker.`,
    download: (name: string) => `Download ${name}`,
  },

  disguised: 'The name or type does not match what this file is. It is shown as what its bytes are.',
  tooLarge: {
    title: 'Too large to show here',
    text: (size: number) => `It has ${common.bytes(size)}. Download it to open it.`,
  },
  empty: { title: 'This file is empty', text: 'It has a name and no bytes.' },
  encrypted: {
    title: 'This file is encrypted',
    text: 'It was encrypted with age before it was stored, and the gateway has no key. People who have the key open it on the page of the locker or with the command line:',
    locker: 'Open the locker page',
    command: 'command to open the file',
  },
  image: {
    alt: (name: string) => `Picture: ${name}`,
    failed: {
      title: 'This picture cannot be shown',
      text: 'Its bytes seem to be damaged. You can still download them.',
    },
    actual: 'Actual size',
    fit: 'Fit to page',
  },
  svg: { label: 'Ways to see it', picture: 'Picture', source: 'Source' },
  markdown: { label: 'Ways to see it', formatted: 'Formatted', source: 'Source', image: 'picture, not loaded:' },
  media: {
    label: (name: string) => `Player: ${name}`,
    failed: {
      title: 'Your browser cannot play this',
      text: 'Its format may be unknown to the browser, or the connection was lost. You can download it.',
    },
  },
  text: {
    label: 'Content of the file',
    wrap: 'Wrap lines',
    part: (shown: number, size: number) => `The first ${common.bytes(shown)} of ${common.bytes(size)} are shown.`,
    more: 'Load more',
    loading: 'Loading…',
    limit: 'The rest is too long to show here. Download the file to read it.',
    isHtml: 'This is the source of a page. Nothing in it runs here.',
    directions:
      'This text contains characters that change the direction of writing: it may read differently from what a program sees.',
    charset: 'This text is not UTF-8; some characters may be wrong.',
  },
  hex: {
    label: 'First bytes of the file, as numbers and characters',
    note: (shown: number, size: number) =>
      shown < size
        ? `No preview for this kind of file. These are its first ${common.number(shown)} bytes:`
        : 'No preview for this kind of file. These are its bytes:',
  },
  pdf: {
    pages: 'Pages of the document',
    page: 'Page',
    of: (count: number) => `of ${common.number(count)}`,
    previous: 'Previous page',
    next: 'Next page',
    smaller: 'Smaller',
    larger: 'Larger',
    zoom: (percent: number) => `${percent}%`,
    canvas: (page: number) => `Page ${page}`,
    loading: 'Opening the document…',
    password: {
      title: 'This document is protected by a password',
      text: 'Download it and open it with a program that asks for the password.',
    },
    failed: {
      title: 'This document cannot be shown',
      text: 'It seems to be damaged, or to use something this page does not know. You can still download it.',
    },
    pageFailed: 'This page of the document cannot be drawn.',
  },

  owner: 'Is this your locker? Open it',
  problems: {
    link: {
      title: 'Nothing is shared with this link',
      text: 'It may be mistyped or have expired, or the owner has switched the public link off or changed it. Ask them for a new one.',
    },
    file: {
      title: 'There is no such file',
      text: 'It may have been deleted or renamed, or the link may be incomplete.',
    },
    bytes: {
      title: 'This file has not arrived yet',
      text: 'Its name is recorded, but its bytes are not there. The upload may still be running.',
    },
    frozen: {
      title: 'This locker is frozen',
      text: 'The operator of this gateway has frozen it. Its owner can ask them why.',
    },
    takenDown: {
      title: 'This file was taken down',
      text: 'The operator of this gateway no longer serves the files of this locker. Its owner can ask them why.',
    },
    changed: {
      title: 'This file was replaced just now',
      text: 'What you saw so far is the earlier version. Open it again to see the new one.',
    },
    busy: { title: 'The gateway is busy', text: 'The file is there, but cannot be read right now. Try again soon.' },
    offline: {
      title: 'The gateway did not answer',
      text: 'Check your connection. Nothing is lost: the file stays where it is.',
    },
    interrupted: {
      title: 'The connection was lost',
      text: 'The file was not read to its end. Nothing is lost: the file stays where it is.',
    },
    other: {
      title: 'This file cannot be shown',
      text: 'The gateway gave an answer that this page does not understand. Reload the page; if it keeps happening, tell the operator.',
    },
  },
}
