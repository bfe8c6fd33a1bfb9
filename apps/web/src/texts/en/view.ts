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
    typeNote: 'as declared by the uploader',
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
    failed: 'Reading the file failed before its end.',
  },

  proof: {
    title: 'Proof',
    loading: 'Asking the gateway…',
    says: 'This is what the gateway reports. Check it yourself, in your own browser:',
    verify: 'Verify this receipt',
    proven: 'Proven',
    provenAt: (date: string) => `It is in a statement that was published on chain on ${date}.`,
    published: 'It is in a statement that is published on chain.',
    signed: 'Signed, not published yet',
    signedText: 'It is in a signed statement that is waiting to be published on chain.',
    other: 'Another version is proven',
    otherText: 'The statement names other bytes for this file: it was replaced afterwards.',
    unknown: 'Not compared yet',
    unknownText:
      'A statement names this file with this size. Comparing the hash shows whether it is about these bytes.',
    none: 'Not proven yet',
    noneText: 'No statement of the locker names this file so far.',
    hidden: 'Not shown with this link',
    hiddenText: 'The owner gave this link its own id, which does not reveal the receipt. Ask them for the receipt id.',
    failed: 'Unknown',
    failedText: 'The gateway did not report whether this file is proven.',
  },

  upload: {
    title: 'Files of this upload',
    loading: 'Asking the gateway…',
    failed: 'The gateway did not list the files of this upload.',
    missing: { open: 'not uploaded yet', failed: 'not uploaded' },
    until: (date: string) => `This link works until ${date}. It shows this upload and nothing else of the locker.`,
    download: (name: string) => `Download ${name}`,
  },

  disguised: 'The name or type does not match the content of this file. It is shown according to its content.',
  tooLarge: {
    title: 'Too large to show here',
    text: (size: number) => `Its size is ${common.bytes(size)}. Download it to open it.`,
  },
  empty: { title: 'This file is empty', text: 'It has a name but no content.' },
  encrypted: {
    title: 'This file is encrypted',
    text: 'It was encrypted with age before it was stored, and the gateway has no key. Anyone who has the key can open it on the locker page or with the command line:',
    locker: 'Open the locker page',
    command: 'command to open the file',
  },
  image: {
    alt: (name: string) => `Picture: ${name}`,
    failed: {
      title: 'This picture cannot be shown',
      text: 'The file seems to be damaged. You can still download it.',
    },
    actual: 'Actual size',
    fit: 'Fit to page',
  },
  svg: { label: 'View', picture: 'Picture', source: 'Source' },
  markdown: { label: 'View', formatted: 'Formatted', source: 'Source', image: 'picture, not loaded:' },
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
    isHtml: 'This is the source of a web page. Nothing in it runs here.',
    directions:
      'This text contains characters that change the direction of writing: what you read may differ from what a program reads.',
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
      title: 'This document is password-protected',
      text: 'Download it and open it with a program that asks for the password.',
    },
    failed: {
      title: 'This document cannot be shown',
      text: 'It seems to be damaged, or to use a feature that this page does not support. You can still download it.',
    },
    pageFailed: 'This page of the document cannot be shown.',
  },

  owner: 'Is this your locker? Open it',
  problems: {
    link: {
      title: 'This link does not work',
      text: 'It may be mistyped or have expired, or the owner has switched the public link off or changed it. Ask them for a new one.',
    },
    file: {
      title: 'File not found',
      text: 'It may have been deleted or renamed, or the link may be incomplete.',
    },
    bytes: {
      title: 'This file is not uploaded yet',
      text: 'Its name is recorded, but its content is missing. The upload may still be running.',
    },
    frozen: {
      title: 'This locker is frozen',
      text: 'The gateway’s admin has frozen it. Its owner can ask them why.',
    },
    takenDown: {
      title: 'This file was taken down',
      text: 'The gateway’s admin has taken down the files of this locker. Its owner can ask them why.',
    },
    changed: {
      title: 'This file was just replaced',
      text: 'What you saw so far is the earlier version. Open it again to see the new one.',
    },
    busy: { title: 'The gateway is busy', text: 'The file is there, but cannot be read right now. Try again soon.' },
    offline: {
      title: 'The gateway did not answer',
      text: 'Check your connection. Nothing is lost: the file stays where it is.',
    },
    interrupted: {
      title: 'The connection was lost',
      text: 'Only part of the file was read. Nothing is lost: the file stays where it is.',
    },
    other: {
      title: 'This file cannot be shown',
      text: 'The gateway gave an answer that this page does not understand. Reload the page; if it keeps happening, tell the gateway’s admin.',
    },
  },
}
