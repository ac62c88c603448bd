/** Builds the text of a JSON object from members whose values are JSON texts. */
export class ObjectText {
  #members = '';

  get isEmpty(): boolean {
    return this.#members === '';
  }

  /** Adds a member, unless `json` is `undefined`. */
  add(key: string, json: string | undefined): this {
    if (json === undefined) return this;
    const comma = this.#members === '' ? '' : ',';
    this.#members += `${comma}${JSON.stringify(key)}:${json}`;
    return this;
  }

  toString(): string {
    return `{${this.#members}}`;
  }
}
