/** Where clients are, as the edge knows it. */
export type City = {
  readonly name: string;
  readonly region: string;
  readonly regionCode: string;
  readonly postalCode: string;
  readonly metroCode: string | null;
  readonly country: string;
  readonly continent: string;
  readonly airport: string;
  readonly latitude: string;
  readonly longitude: string;
  readonly timezone: string;
  readonly asn: number;
  readonly network: string;
};

type Row = readonly [
  ...[name: string, region: string, regionCode: string, postalCode: string],
  ...[metroCode: string | null, country: string, continent: string, airport: string],
  ...[latitude: string, longitude: string, timezone: string, asn: number, network: string],
];

const ROWS: readonly Row[] = [
  [
    ...(['Ashburn', 'Virginia', 'VA', '20147', '511', 'US', 'NA', 'IAD'] as const),
    ...(['39.04372', '-77.48749', 'America/New_York', 14_618, 'Amazon.com, Inc.'] as const),
  ],
  [
    ...(['Frankfurt am Main', 'Hesse', 'HE', '60313', null, 'DE', 'EU', 'FRA'] as const),
    ...(['50.11552', '8.68417', 'Europe/Berlin', 24_940, 'Hetzner Online GmbH'] as const),
  ],
  [
    ...(['Mumbai', 'Maharashtra', 'MH', '400070', null, 'IN', 'AS', 'BOM'] as const),
    ...(['19.07283', '72.88261', 'Asia/Kolkata', 55_836, 'Reliance Jio Infocomm'] as const),
  ],
  [
    ...(['São Paulo', 'São Paulo', 'SP', '01323', null, 'BR', 'SA', 'GRU'] as const),
    ...(['-23.54750', '-46.63611', 'America/Sao_Paulo', 27_699, 'TELEFÔNICA BRASIL S.A'] as const),
  ],
  [
    ...(['London', 'England', 'ENG', 'EC4R', null, 'GB', 'EU', 'LHR'] as const),
    ...([
      '51.50853',
      '-0.12574',
      'Europe/London',
      2_856,
      'British Telecommunications PLC',
    ] as const),
  ],
  [
    ...(['Lagos', 'Lagos', 'LA', '101233', null, 'NG', 'AF', 'LOS'] as const),
    ...(['6.45407', '3.39467', 'Africa/Lagos', 29_465, 'MTN Nigeria'] as const),
  ],
  [
    ...(['Jakarta', 'Jakarta', 'JK', '10110', null, 'ID', 'AS', 'CGK'] as const),
    ...(['-6.21462', '106.84513', 'Asia/Jakarta', 7_713, 'PT Telekomunikasi Indonesia'] as const),
  ],
  [
    ...(['Toronto', 'Ontario', 'ON', 'M5A', null, 'CA', 'NA', 'YYZ'] as const),
    ...(['43.70011', '-79.41630', 'America/Toronto', 577, 'Bell Canada'] as const),
  ],
  [
    ...(['Kraków', 'Lesser Poland', '12', '31-007', null, 'PL', 'EU', 'WAW'] as const),
    ...(['50.06143', '19.93658', 'Europe/Warsaw', 5_617, 'Orange Polska S.A.'] as const),
  ],
  [
    ...(['Tokyo', 'Tokyo', '13', '151-0052', null, 'JP', 'AS', 'NRT'] as const),
    ...(['35.68950', '139.69171', 'Asia/Tokyo', 2_516, 'KDDI CORPORATION'] as const),
  ],
  [
    ...(['Sydney', 'New South Wales', 'NSW', '2000', null, 'AU', 'OC', 'SYD'] as const),
    ...(['-33.86785', '151.20732', 'Australia/Sydney', 1_221, 'Telstra Limited'] as const),
  ],
  [
    ...(['Dallas', 'Texas', 'TX', '75201', '623', 'US', 'NA', 'DFW'] as const),
    ...(['32.78306', '-96.80667', 'America/Chicago', 7_018, 'AT&T Enterprises, LLC'] as const),
  ],
];

/** The first ones have most clients. */
export const CITIES: readonly City[] = ROWS.map((row) => {
  const [name, region, regionCode, postalCode, metroCode, country, continent, airport] = row;
  const [latitude, longitude, timezone, asn, network] = row.slice(8) as [
    ...[string, string, string, number, string],
  ];
  return {
    ...{ name, region, regionCode, postalCode, metroCode, country, continent, airport },
    ...{ latitude, longitude, timezone, asn, network },
  };
});
