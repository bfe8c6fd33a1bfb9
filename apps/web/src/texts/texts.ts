// Every word that the pages show is in a file of its language.

import { en } from './en.ts'

export type Texts = typeof en

export const texts: Texts = en
